package html

import "testing"

func TestCheckLink(t *testing.T) {
	for link, ok := range map[string]bool{
		"https://traces.example.com/trace/{trace_id}":             true,
		"http://localhost:16686/trace/{trace_id}?ui=1#{trace_id}": true,
		"https://example.com/?q=%7Btrace_id%7D":                   false,
		"https://{trace_id}.example.com/{trace_id}":               false,
		"https://example.com/":                                    false,
		"javascript:alert('{trace_id}')":                          false,
		"data:text/html,{trace_id}":                               false,
		"//example.com/{trace_id}":                                false,
		"https:///{trace_id}":                                     false,
		"https://user:secret@example.com/{trace_id}":              false,
		"https://example.com\n/{trace_id}":                        false,
		"{trace_id}":                                              false,
		"HTTPS://example.com/{trace_id}":                          true,
	} {
		if err := CheckLink(link); (err == nil) != ok {
			t.Errorf("%q: %v", link, err)
		}
	}
}
