// Package creds has tokens for the cluster made by a helper program.
package creds

import (
	"os/exec"
	"strings"
	"sync"
	"time"
)

// A Provider gives out a token as long as it is valid.
type Provider struct {
	life    time.Duration
	helper  []string
	mu      sync.Mutex
	token   string
	expires time.Time
}

func NewProvider(life time.Duration, helper ...string) *Provider {
	return &Provider{life: life, helper: helper}
}

// Token returns a token that is valid.
func (p *Provider) Token() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Now().After(p.expires) {
		p.token = p.runHelper()
		p.expires = time.Now().Add(p.life)
	}
	return p.token
}

// Renew makes a new token without having anybody wait.
func (p *Provider) Renew() {
	token := p.runHelper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.token, p.expires = token, time.Now().Add(p.life)
}

func (p *Provider) runHelper() string {
	out, err := exec.Command(p.helper[0], p.helper[1:]...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
