// Package station keeps the levels of a river, all in one event loop.
package station

import "time"

type Query struct {
	Gauge int
	Level chan float64
}

type Loop struct {
	Levels    chan float64
	Queries   chan Query
	Stop      chan struct{}
	Forecasts []time.Duration
	model     *model
}

func NewLoop() *Loop {
	return &Loop{Levels: make(chan float64, 16), Queries: make(chan Query), Stop: make(chan struct{}), model: newModel()}
}

// Run handles all events, until told to stop.
func (l *Loop) Run() {
	forecast := time.NewTicker(90 * time.Millisecond)
	defer forecast.Stop()
	for n := 0; ; n++ {
		select {
		case level := <-l.Levels:
			l.model.observe(n, level)
		case q := <-l.Queries:
			q.Level <- l.model.at(q.Gauge)
		case <-forecast.C:
			begin := time.Now()
			l.model.predict()
			l.Forecasts = append(l.Forecasts, time.Since(begin))
		case <-l.Stop:
			return
		}
	}
}

const reach = 512

type model struct{ now, then [reach]float64 }

func newModel() *model { return &model{} }

func (m *model) observe(n int, level float64) { m.now[n%reach] = level }

func (m *model) at(gauge int) float64 { return m.then[gauge%reach] }

// predict lets the water flow for some hours.
func (m *model) predict() {
	m.then = m.now
	for range 8_000 {
		for i := 1; i < reach-1; i++ {
			m.then[i] += 0.1 * (m.then[i-1] - 2*m.then[i] + m.then[i+1])
		}
	}
}
