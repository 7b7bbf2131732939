package report

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/compare/budget"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/std"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Check is the outcome of the command check: whether findings and budgets pass.
type Check struct {
	Traces []string               // names of the traces
	Rules  []analyze.RulesApplied // all rules by which they were analysed
	// FailOn is the least severity of findings that fail; "" for none.
	FailOn   findings.Severity
	Findings []findings.Finding // those that most of the traces have
	// Suppressed are the suppressed findings of any trace: of each detector and class the costliest.
	Suppressed []findings.Suppressed
	Budget     []budget.Outcome // by rule, in the order of the budget
	// Repository is the source to which annotations refer; zero for none.
	Repository Repository
}

// Repository is the source tree to which annotations of findings refer.
type Repository struct {
	Dir    string // absolute
	Module string // its module's path; "" if it has none
}

// file returns the name of a function's file within the repository; not ok if it lies elsewhere, such as
// in the standard library or in another module.
func (r Repository) file(function, file string) (name string, ok bool) {
	file = strings.ReplaceAll(file, `\`, "/")
	if pkg, _ := std.Split(function); std.Has(pkg) || strings.Contains(file, "@") || strings.Contains(file, "/vendor/") {
		return "", false
	}
	if rest, ok := strings.CutPrefix(file, strings.TrimSuffix(filepath.ToSlash(r.Dir), "/")+"/"); ok && r.Dir != "" {
		return rest, true
	}
	rest, ok := strings.CutPrefix(file, r.Module+"/") // built with -trimpath
	return rest, ok && r.Module != ""
}

// CheckInput returns the part of a result that [NewCheck] needs, so that the rest need not
// stay in memory.
func CheckInput(r *analyze.Result) *analyze.Result {
	return &analyze.Result{Trace: analyze.Trace{Name: r.Trace.Name, Rules: r.Trace.Rules}, Findings: slices.Clone(r.Findings), Suppressed: slices.Clone(r.Suppressed)}
}

// NewCheck returns the Check of some traces: a finding counts if its detector finds
// something in at least half of them; the costliest is kept.
func NewCheck(rs []*analyze.Result, failOn findings.Severity, outcomes []budget.Outcome) *Check {
	c := &Check{FailOn: failOn, Budget: outcomes}
	count := map[string]int{}
	var all []findings.Finding
	for _, r := range rs {
		c.Traces = append(c.Traces, r.Trace.Name)
		c.Suppressed = append(c.Suppressed, r.Suppressed...)
		c.Rules = analyze.AddRules(c.Rules, r.Trace.Rules)
		seen := map[string]bool{}
		for _, f := range r.Findings {
			if !seen[f.ID] {
				seen[f.ID] = true
				count[f.ID]++
			}
			all = append(all, f)
		}
	}
	for _, f := range findings.Rank(all) {
		if 2*count[f.ID] >= len(rs) {
			c.Findings = append(c.Findings, f)
		}
	}
	c.Suppressed = findings.MergeSuppressed(c.Suppressed)
	return c
}

// names returns the names of the classes of the findings.
func (c *Check) names() *words.Names {
	var classes []string
	for i := range c.Findings {
		classes = append(classes, words.OfActors(&c.Findings[i])...)
	}
	for i := range c.Suppressed {
		class, _ := c.Suppressed[i].Finding.Subject()
		classes = append(classes, class)
	}
	return words.NewNames(classes, false)
}

// fails reports whether a finding alone makes the gate fail. That the recording is
// poor does not: it says nothing of the program.
func (c *Check) fails(f *findings.Finding) bool { return c.severe(f) && excuse(f) == "" }

// severe reports whether a finding about the run of the program is as bad as those that fail.
func (c *Check) severe(f *findings.Finding) bool {
	return c.FailOn != "" && f.Kind != findings.KindTrace && f.Severity.AtLeast(c.FailOn)
}

// excuse is why a finding does not count however severe it is: another machine, or the same one
// at another time, would give another outcome. It is "" for others.
func excuse(f *findings.Finding) string {
	switch {
	case f.Kind == findings.KindMachine:
		return "about the machine"
	case f.Basis == findings.Suspected || slices.Contains(f.Doubts, findings.Strained):
		return "in doubt"
	}
	return ""
}

// Failed reports whether the check fails.
func (c *Check) Failed() bool {
	return slices.ContainsFunc(c.Findings, func(f findings.Finding) bool { return c.fails(&f) }) ||
		slices.ContainsFunc(c.Budget, func(o budget.Outcome) bool { return broken(&o) })
}

// broken reports whether a rule does not hold, and that is the program's doing.
func broken(o *budget.Outcome) bool { return !o.OK && o.Inconclusive == "" }

// level is how bad a rule that does not hold is, in the words of GitHub and SARIF.
func level(o *budget.Outcome) string {
	if broken(o) {
		return "error"
	}
	return "warning"
}

// level is how bad a finding is, in the words of SARIF.
func (c *Check) level(f *findings.Finding) string {
	switch {
	case c.fails(f):
		return "error"
	case f.Severity != findings.Note:
		return "warning"
	}
	return "note"
}

// Inconclusive reports whether rules are broken, but perhaps not by the program.
func (c *Check) Inconclusive() bool {
	return !c.Failed() && slices.ContainsFunc(c.Budget, func(o budget.Outcome) bool { return o.Inconclusive != "" })
}

// message reports what is wrong with a rule.
func message(o *budget.Outcome) string {
	if o.Why != "" {
		return fmt.Sprintf("%s: %s", o.Rule, o.Why)
	}
	s := fmt.Sprintf("%s: is %s, the bound %s", o.Rule, o.Value, o.Bound)
	if o.Inconclusive != "" {
		s += "; inconclusive: " + o.Inconclusive
	}
	return s
}

// WriteCheckText writes a line for each broken rule and each finding that fails, and one that sums up.
func WriteCheckText(w io.Writer, c *Check) error {
	bw := lineWriter(w)
	rules, unknown := 0, 0
	for i := range c.Budget {
		o := &c.Budget[i]
		switch {
		case o.Inconclusive != "":
			unknown++
			fmt.Fprintf(bw, "inconclusive: line %d: %s\n", o.Line, words.Visible(message(o)))
		case !o.OK:
			rules++
			fmt.Fprintf(bw, "broken: line %d: %s\n", o.Line, words.Visible(message(o)))
		}
	}
	failed, names := 0, c.names()
	for i := range c.Findings {
		f := &c.Findings[i]
		x := findingOf(names, f)
		if c.fails(f) {
			failed++
			fmt.Fprintf(bw, "%s: %s: %s\n", x.Severity, x.ID, x.Title)
		} else if c.severe(f) {
			fmt.Fprintf(bw, "not counted, %s: %s: %s: %s\n", excuse(f), x.Severity, x.ID, x.Title)
		}
	}
	line, items := names.Suppressed(c.Suppressed)
	if line != "" {
		fmt.Fprintln(bw, line)
	}
	for _, s := range items {
		fmt.Fprintf(bw, "  %s\n", s)
	}
	switch {
	case c.Inconclusive():
		fmt.Fprintf(bw, "inconclusive: %s: record again, on a machine with CPUs to spare\n", quantity.Plural(int64(unknown), "budget rule", "budget rules"))
	case !c.Failed():
		fmt.Fprintf(bw, "ok: %s", quantity.Plural(int64(len(c.Traces)), "trace", "traces"))
		if n := len(c.Budget); n > 0 {
			fmt.Fprintf(bw, ", %s kept", quantity.Plural(int64(n), "budget rule", "budget rules"))
		}
		if c.FailOn != "" {
			fmt.Fprintf(bw, ", no finding of severity %s or above that counts", c.FailOn)
		}
		fmt.Fprintln(bw)
	default:
		fmt.Fprintf(bw, "failed: %s broken, %s\n", quantity.Plural(int64(rules), "budget rule", "budget rules"), quantity.Plural(int64(failed), "finding", "findings"))
	}
	fmt.Fprintf(bw, "rules: %s\n", words.AllRules(c.Rules))
	return bw.Flush()
}

// WriteCheckJSON writes the outcome as one JSON object; docs/json.md describes it.
func WriteCheckJSON(w io.Writer, c *Check, tool string) error {
	return writeObject(w, &jsondoc.Check{
		Schema: Schema, Tool: tool, OK: !c.Failed(), Traces: orEmpty(c.Traces), Rules: orEmpty(c.Rules), FailOn: string(c.FailOn),
		Budget: orEmpty(c.Budget), Findings: findingsOf(c.Findings), Suppressed: suppressedOf(c.Suppressed),
	})
}

// WriteCheckGitHub writes workflow commands: annotations of a run of GitHub Actions.
func WriteCheckGitHub(w io.Writer, c *Check) error {
	bw := bufio.NewWriter(w)
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for i := range c.Budget {
		if o := &c.Budget[i]; !o.OK {
			fmt.Fprintf(bw, "::%s title=%s::%s\n", level(o), property.Replace("gmpscope: budget"), data.Replace(words.Visible(message(o))))
		}
	}
	names := c.names()
	for i := range c.Findings {
		f := &c.Findings[i]
		x := findingOf(names, f)
		level := strings.Replace(c.level(f), "note", "notice", 1)
		at := ""
		if file, line := c.Repository.place(f); file != "" {
			at = fmt.Sprintf(",file=%s,line=%d", property.Replace(words.Visible(file)), line)
		}
		fmt.Fprintf(bw, "::%s title=%s%s::%s\n", level, property.Replace("gmpscope: "+x.ID), at, data.Replace(x.Title))
	}
	if line, items := names.Suppressed(c.Suppressed); line != "" {
		text := strings.Join(append([]string{line}, items...), "\n")
		fmt.Fprintf(bw, "::notice title=%s::%s\n", property.Replace("gmpscope: suppressed"), data.Replace(text))
	}
	fmt.Fprintf(bw, "rules: %s\n", words.AllRules(c.Rules))
	return bw.Flush()
}

// frames are those of the actors of a finding, of causes before those of victims, the innermost first.
func frames(f *findings.Finding) (all []string) {
	for _, role := range []string{findings.Cause, findings.Victim} {
		for _, a := range f.Actors {
			if a.Role == role {
				all = append(all, a.Stack...)
			}
		}
	}
	return all
}

// place is where a finding happens in the repository: the innermost frame there of its actors.
func (r Repository) place(f *findings.Finding) (file string, line int) {
	for _, s := range frames(f) {
		if file, line = r.frame(s); file != "" {
			break
		}
	}
	return file, line
}

// frame is where a frame is in the repository; "" if it lies elsewhere.
func (r Repository) frame(frame string) (file string, line int) {
	fn, rest, ok := strings.Cut(frame, " (")
	at := strings.LastIndexByte(rest, ':')
	if !ok || at < 0 {
		return "", 0
	}
	file, ok = r.file(fn, rest[:at])
	line, err := strconv.Atoi(strings.TrimSuffix(rest[at+1:], ")"))
	if !ok || err != nil || line <= 0 {
		return "", 0
	}
	return file, line
}

type (
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr,omitempty"`
		Cases    []junitCase `xml:"testcase"`
		Out      string      `xml:"system-out"`
	}
	junitCase struct {
		Class   string       `xml:"classname,attr"`
		Name    string       `xml:"name,attr"`
		Failure *junitReason `xml:"failure"`
		Skipped *junitReason `xml:"skipped"`
	}
	junitReason struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteCheckJUnit writes the outcome as a JUnit test suite: a case for each rule
// of the budget and each finding; suppressed ones are skipped.
func WriteCheckJUnit(w io.Writer, c *Check) error {
	names := c.names()
	s := junitSuite{Name: "gmpscope check", Out: "rules: " + words.AllRules(c.Rules)}
	add := func(class, name, problem, skipped string) {
		x := junitCase{Class: class, Name: name}
		s.Tests++
		if problem != "" {
			s.Failures++
			x.Failure = &junitReason{Message: problem, Text: problem}
		}
		if skipped != "" {
			s.Skipped++
			x.Skipped = &junitReason{Message: skipped}
		}
		s.Cases = append(s.Cases, x)
	}
	for i := range c.Budget {
		o := &c.Budget[i]
		problem, skipped := "", ""
		if broken(o) {
			problem = words.Visible(message(o))
		}
		if o.Inconclusive != "" {
			skipped = words.Visible(message(o))
		}
		add("budget", words.Visible(o.Rule), problem, skipped)
	}
	for i := range c.Findings {
		x := findingOf(names, &c.Findings[i])
		problem := ""
		if c.fails(&c.Findings[i]) {
			problem = x.Severity + ": " + x.Title
		}
		add("findings", fmt.Sprintf("%d %s", i+1, x.ID), problem, "")
	}
	for i := range c.Suppressed {
		line, _ := names.Suppressed(c.Suppressed[i : i+1])
		add("findings", fmt.Sprintf("%d %s", len(c.Findings)+i+1, words.Visible(c.Suppressed[i].Finding.ID)), "", line)
	}
	if s.Tests == 0 {
		add("findings", "none", "", "")
	}
	b, err := xml.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, b)
	return err
}

type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver struct {
				Name    string      `json:"name"`
				Version string      `json:"version,omitempty"`
				Rules   []sarifRule `json:"rules"`
			} `json:"driver"`
		} `json:"tool"`
		Results    []sarifResult `json:"results"`
		Properties struct {
			Rules []analyze.RulesApplied `json:"rules"`
		} `json:"properties"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
		Full  sarifText `json:"fullDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		Rule      string          `json:"ruleId"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
		Stacks    []sarifStack    `json:"stacks,omitempty"`
		// Fingerprints tell whether a result of another log is the same.
		Fingerprints map[string]string `json:"partialFingerprints,omitempty"`
		// Suppressions is there for all results of a log, or for none.
		Suppressions []sarifSuppression `json:"suppressions,omitzero"`
	}
	sarifSuppression struct {
		Kind          string            `json:"kind"`
		Status        string            `json:"status"`
		Justification string            `json:"justification"`
		Properties    sarifSuppressedBy `json:"properties"`
	}
	sarifSuppressedBy struct {
		Owner string `json:"owner"`
		Until string `json:"until,omitempty"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Message  *sarifText     `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region struct {
			Line int `json:"startLine"`
		} `json:"region"`
	}
	sarifStack struct {
		Message sarifText    `json:"message"`
		Frames  []sarifFrame `json:"frames"`
	}
	sarifFrame struct {
		Location sarifLocation `json:"location"`
	}
)

// WriteCheckSARIF writes findings, and broken rules, as a SARIF 2.1.0 log
// (OASIS). docs explain the detectors.
func WriteCheckSARIF(w io.Writer, c *Check, version string, docs []findings.Doc) error {
	run := sarifRun{Results: []sarifResult{}}
	run.Properties.Rules = orEmpty(c.Rules)
	tool := &run.Tool.Driver
	tool.Name, tool.Version = "gmpscope", strings.TrimPrefix(version, "gmpscope ")
	rule := func(id, short, full string) {
		tool.Rules = append(tool.Rules, sarifRule{ID: id, Short: sarifText{short}, Full: sarifText{full}})
	}
	rule("budget", "a broken budget", "A number of the analysis is beyond the bound that a budget file sets.")
	for _, d := range docs {
		full, _ := findings.Section(d.Text, "What")
		rule(d.ID, d.Title, full)
	}
	for i := range c.Budget {
		if o := &c.Budget[i]; !o.OK {
			run.Results = append(run.Results, sarifResult{
				Rule: "budget", Level: level(o), Message: sarifText{words.Visible(message(o))}, Fingerprints: fingerprints("budget", o.Rule),
			})
		}
	}
	names := c.names()
	for i := range c.Findings {
		run.Results = append(run.Results, c.sarif(names, &c.Findings[i]))
	}
	for i := range c.Suppressed {
		s := &c.Suppressed[i]
		x := c.sarif(names, &s.Finding)
		x.Suppressions = []sarifSuppression{{
			Kind: "external", Status: "accepted", Justification: words.Written(s.By.Reason, 600),
			Properties: sarifSuppressedBy{words.Written(s.By.Owner, 200), s.By.Until},
		}}
		run.Results = append(run.Results, x)
	}
	for i := range run.Results {
		if x := &run.Results[i]; len(c.Suppressed) > 0 && x.Suppressions == nil {
			x.Suppressions = []sarifSuppression{}
		}
	}
	b, err := json.MarshalIndent(sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run},
	}, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// sarif is the result of a finding.
func (c *Check) sarif(names *words.Names, f *findings.Finding) sarifResult {
	class, _ := f.Subject()
	x := sarifResult{
		Rule: f.ID, Level: c.level(f), Message: sarifText{findingOf(names, f).Title}, Fingerprints: fingerprints(f.ID, class, site(f)),
	}
	if file, line := c.Repository.place(f); file != "" {
		x.Locations = []sarifLocation{{Physical: physical(file, line)}}
	}
	for _, a := range f.Actors {
		if len(a.Stack) == 0 {
			continue
		}
		st := sarifStack{Message: sarifText{words.Visible(a.Role + " " + a.Class)}}
		for _, s := range a.Stack {
			fr := sarifFrame{sarifLocation{Message: &sarifText{words.Cut(words.Visible(s), 300)}}}
			if file, line := c.Repository.frame(s); file != "" {
				fr.Location.Physical = physical(file, line)
			}
			st.Frames = append(st.Frames, fr)
		}
		x.Stacks = append(x.Stacks, st)
	}
	return x
}

// fingerprints are those of a result with that identity, which has nothing in it
// that differs from one run of a program to the next, or with a line more.
func fingerprints(identity ...string) map[string]string {
	sum := sha256.Sum256([]byte(strings.Join(identity, "\x00")))
	return map[string]string{"detectorClassFunction/v1": hex.EncodeToString(sum[:16])}
}

// site is the function of the program in which a finding happens: the innermost
// one in the stacks of its actors that is not of the standard library, whose inner
// functions differ with the Go version, and with where a goroutine was caught.
func site(f *findings.Finding) string {
	for _, s := range frames(f) {
		fn, _, _ := strings.Cut(s, " (")
		if pkg, _ := std.Split(fn); !std.Has(pkg) {
			return fn
		}
	}
	return ""
}

func physical(file string, line int) *sarifPhysical {
	var p sarifPhysical
	p.Artifact.URI, p.Region.Line = uri(file), line
	return &p
}

// uri writes a file name of a trace as a relative or file URI.
func uri(file string) string {
	file = strings.ReplaceAll(file, `\`, "/")
	abs := strings.HasPrefix(file, "/") || filepath.IsAbs(file) || len(file) > 1 && file[1] == ':'
	var b strings.Builder
	for i := range len(file) {
		switch c := file[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("/-._~@+,=:", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if !abs {
		return b.String()
	}
	return "file:///" + strings.TrimPrefix(b.String(), "/")
}
