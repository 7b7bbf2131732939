package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/cmd/gmpscope/internal/mcptools"
	"github.com/gmpscope/gmpscope/internal/files"
)

func (a *app) mcp() *cobra.Command {
	var (
		roots   []string
		address string
		memory  = size(1 << 30)
	)
	cmd := &cobra.Command{
		Use:   "mcp --root FOLDER",
		Short: "Answer an assistant's questions about traces (Model Context Protocol)",
		Long: `Mcp serves an assistant's tools by the Model Context Protocol, on standard input
and output, or with --http by streamable HTTP: which traces there are, the verdict
on one, units of work, the path of a slow one, findings, waits, what ran at a time,
comparisons, simulations. docs/mcp.md has them all, and how to set up a client.

It reads files below the folders that --root names, and nothing else: no link leads
out of them. It writes no file. Answers hold the names of the program's functions,
and go to whoever runs the assistant.`,
		Example: `  gmpscope mcp --root ~/traces
  claude mcp add gmpscope -- gmpscope mcp --root ~/traces
  gmpscope mcp --root ~/traces --http localhost:7777`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.do(func(ctx context.Context, _ []string) error {
			switch {
			case len(roots) == 0:
				return usagef("name the folder of the traces with --root")
			case memory < analyze.MinMemory:
				return usagef("--max-memory %v: must be %v at least", memory, size(analyze.MinMemory))
			case address != "":
				if err := mcptools.CheckAddress(address); err != nil {
					return usagef("--http %s: %v", address, err)
				}
			}
			s, err := mcptools.New(mcptools.Options{Roots: roots, Version: tool(), MaxMemory: int64(memory)})
			if err != nil {
				return err
			}
			defer s.Close()
			if address == "" {
				return s.Run(ctx, &mcp.IOTransport{Reader: files.Reader(ctx, a.stdin), Writer: nopCloser{a.stdout}})
			}
			l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
			if err != nil {
				return fmt.Errorf("serving HTTP: %w", err)
			}
			if _, err := fmt.Fprintf(a.stderr, "gmpscope: serving http://%s until interrupted\n", l.Addr()); err != nil {
				return errors.Join(err, l.Close())
			}
			return s.ServeHTTP(ctx, l)
		}),
	}
	cmd.Flags().StringArrayVar(&roots, "root", nil, "read traces below `FOLDER`; may be given several times")
	cmd.Flags().StringVar(&address, "http", "", "serve streamable HTTP at `ADDRESS` of this machine, such as localhost:7777, instead of standard input and output")
	cmd.Flags().Var(&memory, "max-memory", "limit the memory of an analysis to about `SIZE`")
	must(cmd.MarkFlagDirname("root"))
	return cmd
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
