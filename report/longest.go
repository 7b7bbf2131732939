package report

import (
	"fmt"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// PageWaits is the number of longest waits that the page describes.
const PageWaits = 20

const shownWaits = 5 // in text, and on the page without being asked

// LongestSection returns the section about the longest waits; nil if there are none.
func LongestSection(r *analyze.Result, names *words.Names) *doc.Section {
	longest := r.Waits.LongestWaits()
	if len(longest) == 0 {
		return nil
	}
	var lines []string
	var folds, further []doc.Block
	for i := range longest[:min(len(longest), PageWaits)] {
		w := &longest[i].WaitDetail
		sentences := names.WaitSentences(*w)
		if n := longest[i].Like; n > 0 {
			sentences = append(sentences, quantity.Plural(int64(n), "more long wait", "more long waits")+" of this group at the same time was much the same.")
		}
		title, who := fmt.Sprintf("Goroutine %d waited %s", w.G, quantity.Duration(w.WaitNs)), names.Class(w.Name)
		f := doc.Fold{ID: fmt.Sprintf("story-%d", i+1), Title: title, Note: who, Where: doc.Page, Selects: fmt.Sprintf("p%d", w.P), Group: w.Name, FromNs: w.FromNs, ToNs: w.ToNs,
			Blocks: waitBlocks(names, w, sentences)}
		if i >= shownWaits {
			further = append(further, f)
			continue
		}
		folds = append(folds, f)
		if who != "" {
			title = fmt.Sprintf("Goroutine %d, %s, waited %s", w.G, who, quantity.Duration(w.WaitNs))
		}
		lines = append(lines, title+". "+strings.Join(sentences, " "))
	}
	blocks := append([]doc.Block{doc.List{Items: lines, Where: doc.Text}}, folds...)
	if len(further) > 0 {
		blocks = append(blocks, doc.Fold{Title: fmt.Sprintf("%d more", len(further)), Blocks: further, Where: doc.Page})
	}
	return &doc.Section{ID: "longest", Title: "Longest waits, step by step", Blocks: blocks}
}

// waitBlocks is what a wait shows when it is opened.
func waitBlocks(names *words.Names, w *waits.WaitDetail, sentences []string) []doc.Block {
	var legend doc.Legend
	causes := causeParts(w.Causes)
	for _, p := range causes {
		legend = append(legend, doc.Part{Key: p.Key, Title: p.Title + " " + quantity.Duration(p.Ns)})
	}
	out := []doc.Block{doc.Bar{Label: "why this goroutine waited", Parts: causes}, legend, doc.Para{Text: strings.Join(sentences, " ")}}
	if href := WaitHref(w); href != "" {
		out = append(out, doc.Para{Text: "Show in the timeline", Href: href})
	}
	out = append(out, doc.Para{Text: "Its life", Href: fmt.Sprintf("#life=%d", w.G)})
	var steps, runs, ahead []string
	for i, s := range w.Path {
		text := words.Moved(s)
		if i == 0 {
			text = fmt.Sprintf("became runnable and was put into %s %s", words.Queue(s.Queue, s.P), words.Phrase(vocabulary.Why, s.Why))
		}
		steps = append(steps, words.Since(s.AtNs-w.FromNs)+": "+text)
	}
	if w.MoreSteps > 0 {
		steps = append(steps, "… "+quantity.Plural(int64(w.MoreSteps), "more move", "more moves"))
	}
	steps = append(steps, fmt.Sprintf("%s: P%d %s, and it ran", words.Since(w.WaitNs), w.P, words.Phrase(vocabulary.Source, w.Source)))
	for _, r := range w.Runs {
		order := "queued earlier"
		if r.Later {
			order = "queued later"
		}
		if r.End != "" {
			order += ", then " + words.Phrase(vocabulary.End, r.End)
		}
		runs = append(runs, fmt.Sprintf("%s: goroutine %d, %s, ran for %s; %s", words.Since(r.FromNs-w.FromNs), r.G, names.Class(r.Name), quantity.Duration(r.ToNs-r.FromNs), order))
	}
	if w.MoreRuns > 0 {
		runs = append(runs, fmt.Sprintf("… %d more, shorter", w.MoreRuns))
	}
	for _, a := range w.Ahead {
		ahead = append(ahead, fmt.Sprintf("%s: %s in %s", names.Class(a.Name), quantity.Duration(a.Ns), quantity.Plural(a.Runs, "run", "runs")))
	}
	further := append([]doc.Block{doc.List{Items: steps}}, held(names, w.Held)...)
	if len(runs) > 0 {
		further = append(further, doc.List{Title: "Run by run", Items: runs})
	}
	if len(ahead) > 0 {
		further = append(further, doc.List{Title: "What ran ahead of it", Items: ahead})
	}
	further = append(further, doc.Para{Text: fmt.Sprintf("How the queue that it was taken from is known: %s.", words.Basis(w.Basis)), Small: true})
	return append(out, doc.Fold{Title: "Step by step", Blocks: further})
}
