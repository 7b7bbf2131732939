package perfetto

import (
	"bufio"

	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of the fields that are written, by their messages in perfetto_trace.proto.
const (
	tracePacket = 1 // of Trace

	// TracePacket
	packetTimestamp       = 8
	packetSequenceID      = 10
	packetTrackEvent      = 11
	packetInternedData    = 12
	packetSequenceFlags   = 13
	packetTrackDescriptor = 60

	// TrackDescriptor
	trackUUID     = 1
	trackName     = 2
	trackParent   = 5
	trackCounter  = 8
	trackOrdering = 11
	trackRank     = 12

	// CounterDescriptor
	counterUnit = 3

	// TrackEvent
	eventAnnotations      = 4
	eventType             = 9
	eventNameIID          = 10
	eventTrack            = 11
	eventName             = 23
	eventCounter          = 30
	eventFlows            = 47
	eventTerminatingFlows = 48

	// DebugAnnotation
	annotationNameIID = 1
	annotationInt     = 4
	annotationString  = 6

	// InternedData, and the messages in it
	internedEventNames      = 2
	internedAnnotationNames = 3
	internedIID             = 1
	internedName            = 2
)

// Values of enums.
const (
	sliceBegin = 1 // TrackEvent.Type
	sliceEnd   = 2
	instant    = 3
	counter    = 4

	stateCleared = 1 // TracePacket.SequenceFlags
	needsState   = 2

	orderExplicit = 3 // TrackDescriptor.ChildTracksOrdering
	unitCount     = 2 // CounterDescriptor.Unit
)

// packets writes the packets of a trace, all of one sequence. An error of w stays with w.
type packets struct {
	w             *bufio.Writer
	packet, inner []byte // scratch, as are the next two
	annotations   []byte
	head          []byte
	begun         bool
}

type event struct {
	at          int64 // ns
	kind        uint64
	track       uint64
	nameIID     uint64 // 0: name, if that is not empty
	name        string
	value       int64    // of a counter
	flows       []uint64 // that begin here
	terminating []uint64 // that end here
}

// add writes an event with the annotations that were noted since the last one.
func (p *packets) add(e *event) {
	b := protowire.AppendVarint(protowire.AppendTag(p.inner[:0], eventType, protowire.VarintType), e.kind)
	b = appendUint(b, eventTrack, e.track)
	switch {
	case e.nameIID != 0:
		b = appendUint(b, eventNameIID, e.nameIID)
	case e.name != "":
		b = appendString(b, eventName, e.name)
	}
	if e.kind == counter {
		b = appendUint(b, eventCounter, uint64(e.value))
	}
	b = append(b, p.annotations...)
	for _, id := range e.flows {
		b = protowire.AppendFixed64(protowire.AppendTag(b, eventFlows, protowire.Fixed64Type), id)
	}
	for _, id := range e.terminating {
		b = protowire.AppendFixed64(protowire.AppendTag(b, eventTerminatingFlows, protowire.Fixed64Type), id)
	}
	p.inner, p.annotations = b, p.annotations[:0]
	p.write(appendUint(p.packet[:0], packetTimestamp, uint64(e.at)), packetTrackEvent)
}

// note notes an annotation of the next event.
func (p *packets) note(annotation []byte) {
	p.head = annotation
	p.annotations = appendBytes(p.annotations, eventAnnotations, annotation)
}

type descriptor struct {
	uuid, parent uint64
	name         string
	counts       bool  // it is a counter
	ordered      bool  // its children are ordered by their ranks
	rank         int64 // among the children of its parent
}

// describe writes a descriptor, which comes before the first event of its track.
func (p *packets) describe(d *descriptor) {
	b := appendUint(p.inner[:0], trackUUID, d.uuid)
	b = appendString(b, trackName, d.name)
	if d.parent != 0 {
		b = appendUint(b, trackParent, d.parent)
		b = appendUint(b, trackRank, uint64(d.rank))
	}
	if d.counts {
		b = appendBytes(b, trackCounter, appendUint(nil, counterUnit, unitCount))
	}
	if d.ordered {
		b = appendUint(b, trackOrdering, orderExplicit)
	}
	p.inner = b
	p.write(p.packet[:0], packetTrackDescriptor)
}

// intern writes that a name has a number: of events or of annotations, as the field says.
func (p *packets) intern(field protowire.Number, iid uint64, name string) {
	b := appendString(appendUint(p.head[:0], internedIID, iid), internedName, name)
	p.head = b
	p.inner = appendBytes(p.inner[:0], field, b)
	p.write(p.packet[:0], packetInternedData)
}

// write writes a packet that has p.inner as its field.
func (p *packets) write(b []byte, field protowire.Number) {
	b = appendUint(b, packetSequenceID, 1)
	flags := uint64(needsState)
	if !p.begun {
		flags, p.begun = stateCleared, true
	}
	b = appendUint(b, packetSequenceFlags, flags)
	b = appendBytes(b, field, p.inner)
	p.packet = b
	head := protowire.AppendVarint(protowire.AppendTag(p.head[:0], tracePacket, protowire.BytesType), uint64(len(b)))
	p.head = head
	p.w.Write(head)
	p.w.Write(b)
}

func appendUint(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func appendString(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func appendBytes(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}
