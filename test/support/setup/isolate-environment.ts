/** A test never meets the user's own team, tmux server or key: what it needs of them it is given. */
for (const name of Object.keys(process.env)) {
  if (/^(TMUX|TMUX_PANE|TEAMS_|CLAUDE|ANTHROPIC_)/.test(name)) delete process.env[name];
}
