import { expect, it } from "vitest";
import { privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside, personOutside } from "../../support/tmux/terminal-user.ts";
import { watchedPane } from "../../support/tmux/watched-pane.ts";

it("attach › attaches the terminal to the agent's pane, and ends on detach", async () => {
  const t = privateTmux();
  const watched = await watchedPane(t);
  const person = personOutside(t, ["attach", "ada"]);
  await person.sees("ready");
  expect(t.tmux("list-clients", "-F", "#{pane_id}")).toBe(watched.pane);
  person.type("C-b", "d");
  expect(await person.code()).toBe(0);
});

it("attach › prints the command on a terminal that tmux cannot draw on", async () => {
  const t = privateTmux();
  const { pane } = await watchedPane(t);
  for (const TERM of ["dumb", ""]) {
    const person = personOutside(t, ["attach", "ada"], { env: { TERM } });
    await person.sees(`attach-session -t '$0:@1.${pane}'`);
    await person.sees("tmux cannot draw on this terminal");
    expect(await person.code()).toBe(0);
  }
  expect(t.tmux("list-clients")).toBe("");
});

it("attach › inside another tmux prints a working command, and does not attach a client", async () => {
  const t = privateTmux();
  await watchedPane(t);
  const other = privateTmux();
  const { TEAMS_HOME, XDG_RUNTIME_DIR, TMUX_TMPDIR } = t.env;
  const person = personInside(other, ["attach", "ada"], {
    env: { TEAMS_HOME, XDG_RUNTIME_DIR, TMUX_TMPDIR },
  });
  await person.sees(/env -u TMUX tmux -S [\s\S]*attach-session -t '\$0:@1.%1'/);
  expect(await person.code()).toBe(0);
  expect([t.tmux("list-clients"), other.tmux("list-clients")]).toEqual(["", ""]);
});
