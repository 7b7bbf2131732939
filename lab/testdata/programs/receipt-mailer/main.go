// Receipt-mailer makes the mails with the receipts of a chain of shops: 2500 come
// in a second, and three writers make them.
package main

import (
	"bytes"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"regexp"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"time"
)

const (
	phase = time.Second
	rate  = 2500
)

const layout = `{{define "line"}}<tr><td>{{.Name}}</td><td>{{printf "%d.%02d" .Whole .Cents}}</td></tr>{{end}}
{{define "head"}}<html><head><title>Receipt {{.Number}}</title><style>td { padding: 2px }</style></head>{{end}}
{{define "tax"}}<table class="tax">{{range $i, $l := .Lines}}<tr><td>{{$i}}</td><td>{{if gt $l.Whole 5}}19 %{{else}}7 %{{end}}</td></tr>{{else}}<tr><td>none</td></tr>{{end}}</table>{{end}}
{{define "delivery"}}<p>To {{.Customer}}, {{with .Paid}}paid by {{.}}{{else}}to be paid{{end}}. <a href="/track?receipt={{.Number}}&amp;by={{.Paid}}">Where is it?</a></p>{{end}}
{{define "again"}}<ul>{{range .Lines}}<li><a href="/search?q={{.Name}}" title="{{.Name}}">{{.Name}} again</a></li>{{end}}</ul><script>remember({{.Number}}, {{.Customer}})</script>{{end}}
{{define "foot"}}<p>Paid by {{.Paid}}. Questions? <a href="/help?receipt={{.Number}}">Ask us</a></p></body></html>{{end}}
{{template "head" .}}<body onload="track({{.Number}})"><h1>Thank you, {{.Customer}}</h1><table>
{{range .Lines}}{{template "line" .}}{{end}}</table>{{if .Note}}<p>{{.Note}}</p>{{end}}{{template "tax" .}}{{template "delivery" .}}{{template "again" .}}{{template "foot" .}}`

type line struct {
	Name         string
	Whole, Cents int
}

type receipt struct {
	Number               int
	Customer, Paid, Note string
	Lines                []line
	at                   time.Time
}

type mailer struct {
	theme  string
	inbox  chan receipt
	sent   chan []byte
	busy   atomic.Int64
	count  atomic.Int64
	waited atomic.Int64
}

func (m *mailer) write() {
	for r := range m.inbox {
		m.waited.Add(int64(time.Since(r.at)))
		begin := time.Now()
		m.sent <- m.render(r)
		m.busy.Add(int64(time.Since(begin)))
		m.count.Add(1)
	}
}

func (m *mailer) render(r receipt) []byte {
	page := template.Must(template.ParseGlob(m.theme)).Lookup("receipt.html")
	card := regexp.MustCompile(`\b(\d{4})[ -]?(\d{4})[ -]?(\d{4})[ -]?(\d{4})\b`)
	phone := regexp.MustCompile(`(?i)\b(?:tel|phone)[.:]? *\+?[\d /-]{6,}`)
	return fill(page, card, phone, r)
}

func fill(page *template.Template, card, phone *regexp.Regexp, r receipt) []byte {
	r.Note = phone.ReplaceAllString(card.ReplaceAllString(r.Note, "**** $4"), "(phone)")
	var out bytes.Buffer
	check(page.Execute(&out, r))
	return out.Bytes()
}

func (m *mailer) receive(end time.Time) (n int) {
	for due := time.Now(); due.Before(end); due = due.Add(time.Second / rate) {
		time.Sleep(time.Until(due))
		n++
		m.inbox <- sample(n, due)
	}
	close(m.inbox)
	return n
}

func sample(n int, due time.Time) receipt {
	return receipt{n, "A. Customer", "card", "card 1234 5678 1234 5678, tel. 030 1234567", []line{{"Tea", 3, 20}, {"Cup", 7, 95}, {"Spoon", 1, 10}}, due}
}

func (m *mailer) send() (total int) {
	for mail := range m.sent {
		total += len(mail)
	}
	return total
}

func main() {
	theme, err := os.MkdirTemp("", "theme")
	check(err)
	defer os.RemoveAll(theme)
	for _, name := range []string{"receipt", "welcome", "shipped", "returned", "reminder", "voucher"} {
		check(os.WriteFile(filepath.Join(theme, name+".html"), []byte(layout), 0o600))
	}
	m := &mailer{theme: filepath.Join(theme, "*.html"), inbox: make(chan receipt, 10000), sent: make(chan []byte, 16)}
	stop := startTrace()
	end := time.Now().Add(phase)
	var writers, sender sync.WaitGroup
	for range 3 {
		writers.Go(m.write)
	}
	sender.Go(func() { m.send() })
	due := m.receive(end)
	late := len(m.inbox)
	writers.Wait()
	close(m.sent)
	sender.Wait()
	stop()
	n := m.count.Load()
	page := template.Must(template.ParseGlob(m.theme)).Lookup("receipt.html")
	pattern := regexp.MustCompile(`\b(\d{4})[ -]?(\d{4})\b`)
	fill(page, pattern, pattern, sample(0, time.Now()))
	alone := time.Now()
	for i := range 300 {
		fill(page, pattern, pattern, sample(i, alone))
	}
	compiled := time.Since(alone) / 300
	alone = time.Now()
	for i := range 300 {
		m.render(sample(i, alone))
	}
	compiling := time.Since(alone) / 300
	fmt.Fprintf(os.Stderr, "proof: of %d receipts %d left at the end of the second; mean wait for a writer %v; a receipt takes a writer %v; alone, afterwards, it takes %v, and %v with templates and patterns compiled before\n",
		due, late, time.Duration(m.waited.Load()/n).Round(time.Millisecond), time.Duration(m.busy.Load()/n).Round(time.Microsecond), compiling.Round(time.Microsecond), compiled.Round(time.Microsecond))
}

func startTrace() (stop func()) {
	file, err := os.Create(os.Args[1])
	check(err)
	check(trace.Start(file))
	return func() {
		trace.Stop()
		check(file.Close())
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
