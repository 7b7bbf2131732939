package mcptools

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// CheckAddress returns an error unless an address is of this machine alone: there is no
// authentication.
func CheckAddress(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return errors.New("it is not of this machine alone: name localhost, 127.0.0.1 or [::1], since whoever can connect can read the traces")
	}
	return nil
}

// ServeHTTP serves clients (streamable HTTP) until the context ends. Requests of web sites, and
// those that call the server by another name than localhost, are refused.
func (s *Server) ServeHTTP(ctx context.Context, l net.Listener) error {
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{SessionTimeout: time.Hour})
	srv := &http.Server{Handler: local(handler), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { srv.Close() })
	defer stop()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return context.Cause(ctx)
}

// local refuses what a browser sends for a web site, by its Origin. The SDK refuses foreign hosts.
func local(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if origin := req.Header.Get("Origin"); origin != "" {
			if u, err := url.Parse(origin); err != nil || u.Host != req.Host {
				http.Error(w, "gmpscope: requests of web sites are not answered", http.StatusForbidden)
				return
			}
		}
		h.ServeHTTP(w, req)
	})
}
