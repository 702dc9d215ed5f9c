import { describe, expect, it } from "vitest";
import { updateTeam } from "../../../src/team/config/config.ts";
import { writePlace } from "../../../src/team/records/read-records.ts";
import { cliIn } from "../../support/processes/in-process-cli.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";
import { watchedMember, watchedTeam } from "../../support/tmux/watched-pane.ts";

/** Names with a meaning for a shell, a tmux format or a tmux target (S30). */
const NAMES = ["a.b:c", "two words", "100%", "=first", "--json", 'it\'s "$HOME"', "#{pane_id}", "検査", "🚀"];

describe("teams attach", () => {
  it.each(NAMES)("goes to the pane of %s", async (name) => {
    const { t, attach, ref } = await start();
    const { pane } = await watchedMember(t, ref, name);
    const printed = await attach(["--", name]);
    expect(printed).toMatchObject({ code: 0, err: "" });
    expect(printed.out).toMatch(new RegExp(`^tmux -S \\S+ attach-session -t '\\$\\d+:@\\d+\\.${pane}'\n$`));
    await t.attach("=work");
    const inside = await attach(["--json", "--", name], t.inside("%0"));
    expect(inside.json()).toEqual({ name, switched: true });
    expect(t.tmux("list-clients", "-F", "#{pane_id}")).toBe(pane);
  });

  it("prints the command and the reason if it cannot show the pane here", async () => {
    const { t, attach, ref } = await start();
    await watchedMember(t, ref, "ada");
    const detached = await attach(["ada"], t.inside("%0"));
    expect(detached).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^tmux -S /),
      err: "No terminal is attached to this tmux session, so no terminal was switched.\n",
    });
    const other = privateTmux();
    const { TMUX, TMUX_PANE } = other.inside(other.session().pane);
    const nested = await attach(["ada"], { TMUX, TMUX_PANE });
    expect(nested.out).toMatch(/^env -u TMUX tmux -S \S+ attach-session -t '\$\d+:@\d+\.%1'\n$/);
    expect(nested.err).toContain("another tmux server");
    expect(nested.code).toBe(0);
    // With --quiet only the command is printed.
    expect((await attach(["ada", "--quiet"], { TMUX, TMUX_PANE })).err).toBe("");
  });

  it("shows a visible member for a team, and explains how to watch a member without a pane", async () => {
    const { t, attach, ref } = await start();
    const [ada, bob] = [await watchedMember(t, ref, "ada"), await watchedMember(t, ref, "-b ob")];
    expect((await attach([])).out).toContain(`.${ada.pane}'`);
    await updateTeam(ref, (config) => ({ ...config, hiddenPaneIds: [ada.pane] }));
    expect((await attach([])).out).toContain(`.${bob.pane}'`);
    const { paneId: _, server: __, ...place } = bob.place;
    writePlace(ref, "-b ob", { ...place, backend: "process" });
    const none = await attach(["--json", "--", "-b ob"]);
    expect(none.error()).toMatchObject({
      code: "RECIPIENT_INACTIVE",
      message: "-b ob runs without a pane.",
      hint: "Watch it here: teams peek --team crew -f -- '-b ob'",
    });
    expect(none.code).toBe(1);
  });

  it("reports a missing pane, an unknown name and an unknown team", async () => {
    const { t, attach, ref } = await start();
    const { pane } = await watchedMember(t, ref, "ada");
    t.tmux("kill-pane", "-t", pane);
    expect((await attach(["ada", "--json"])).error()).toMatchObject({
      code: "RECIPIENT_INACTIVE",
      message: "ada has no pane now.",
    });
    await t.killServer();
    expect((await attach(["ada", "--json"])).error().code).toBe("RECIPIENT_INACTIVE");
    expect((await attach(["nobody", "--json"])).error().code).toBe("AGENT_NOT_FOUND");
    expect((await attach(["ada@other", "--json"])).error().code).toBe("TEAM_NOT_FOUND");
  });
});

async function start() {
  const t = privateTmux();
  t.session();
  const ref = await watchedTeam(t);
  return { t, ref, attach: attachIn(t) };
}

function attachIn(t: PrivateTmux) {
  const cli = cliIn(t.home);
  return (
    words: readonly string[],
    env: PrivateTmux["env"] | Readonly<Record<string, string | undefined>> = {},
  ) => {
    const all = { ...t.env, TMUX: undefined, TMUX_PANE: undefined, ...env };
    const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return cli(["attach", ...words], { env: Object.fromEntries(given) });
  };
}
