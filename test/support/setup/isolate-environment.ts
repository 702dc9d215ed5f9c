/** Keeps every test away from the user's own team, tmux server and key: a test sets what it needs. */
for (const name of Object.keys(process.env)) {
  if (/^(TMUX|TMUX_PANE|TEAMS_|CLAUDE|ANTHROPIC_)/.test(name)) delete process.env[name];
}
// Each Node process would parse these certificates at its start, which doubles its CPU time; tests use no TLS.
delete process.env.NODE_EXTRA_CA_CERTS;
