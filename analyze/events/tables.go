package events

import (
	"encoding/binary"
	"iter"
	"slices"

	"golang.org/x/exp/trace"
)

// Tables holds the stacks and strings of a stream, each distinct one once.
type Tables struct {
	stacks   [][]Frame
	strings  []string
	byStack  map[string]Handle
	byName   map[string]Handle
	bytes    int64
	messages int // texts of logs
}

// NewTables returns tables that hold the fixed strings and no stack.
func NewTables() *Tables {
	t := &Tables{
		stacks:  make([][]Frame, 1),
		byStack: map[string]Handle{},
		byName:  map[string]Handle{},
	}
	for _, s := range fixedStrings {
		t.String(s)
	}
	return t
}

// Frames returns the frames of a stack, innermost first. The caller must not
// change them.
func (t *Tables) Frames(h Handle) []Frame {
	if int(h) >= len(t.stacks) {
		return nil
	}
	return t.stacks[h]
}

// Name returns the string of a handle.
func (t *Tables) Name(h Handle) string {
	if int(h) >= len(t.strings) {
		return ""
	}
	return t.strings[h]
}

// Stacks returns the number of stack handles in use.
func (t *Tables) Stacks() int { return len(t.stacks) }

// AllFrames returns the frames of all stacks, as Frames does, in the order of their handles.
func (t *Tables) AllFrames() iter.Seq[[]Frame] { return slices.Values(t.stacks) }

// Memory returns how many bytes the tables take, as an estimate.
func (t *Tables) Memory() int64 { return t.bytes }

// What an entry takes beside its text: headers, and its place in a map.
const (
	nameMemory  = 120
	stackMemory = 150
	frameMemory = 40
)

// String returns the handle of s, a new one if s was not known.
func (t *Tables) String(s string) Handle {
	h, ok := t.byName[s]
	if !ok {
		h = Handle(len(t.strings))
		t.strings = append(t.strings, s)
		t.byName[s] = h
		t.bytes += nameMemory + int64(len(s))
	}
	return h
}

// message is String for the text of a log, of which only so many are kept; 0 beyond.
func (t *Tables) message(s string) Handle {
	if _, ok := t.byName[s]; !ok {
		if t.messages == maxAllMessages {
			return 0
		}
		t.messages++
	}
	return t.String(s)
}

// stack returns the handle of frames. key is their encoding by stackKey.
func (t *Tables) stack(key string, frames []Frame) Handle {
	h, ok := t.byStack[key]
	if !ok {
		h = Handle(len(t.stacks))
		t.stacks = append(t.stacks, frames)
		t.byStack[key] = h
		t.bytes += stackMemory + int64(len(key)) + frameMemory*int64(len(frames))
	}
	return h
}

func stackKey(buf []byte, frames []Frame) []byte {
	for _, f := range frames {
		buf = binary.AppendUvarint(buf, uint64(len(f.Func)))
		buf = append(buf, f.Func...)
		buf = binary.AppendUvarint(buf, uint64(len(f.File)))
		buf = append(buf, f.File...)
		buf = binary.AppendUvarint(buf, f.Line)
	}
	return buf
}

// maxFrames bounds what is kept of one stack; the runtime writes at most 128.
const maxFrames = 128

func framesOf(seq iter.Seq[trace.StackFrame]) []Frame {
	var out []Frame
	for f := range seq {
		if len(out) == maxFrames {
			break
		}
		out = append(out, Frame{Func: f.Func, File: f.File, Line: f.Line, PC: f.PC})
	}
	return out
}
