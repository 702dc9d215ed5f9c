import { describe, expect, test } from "vitest";
import { checkTmuxOptions } from "../../../src/doctor/tmux-options.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

describe("checkTmuxOptions", () => {
  test("starts no server, and says that none is running", async () => {
    const { env, server } = privateTmux();
    expect(await checkTmuxOptions(env)).toEqual([
      {
        name: "tmux options",
        level: "ok",
        text: "no server is running; the options are checked when one runs",
      },
    ]);
    await expect(server.call(["list-sessions"])).rejects.toThrow(/no server running|error connecting/);
  });

  test("names each option that harms agents' panes, with its remedy", async () => {
    const config = [
      "set -g default-terminal screen",
      "set -s escape-time 500",
      "set -g mouse off",
      "set -s set-clipboard off",
      "set -g base-index 1",
      "setw -g pane-base-index 1",
      "set-hook -g after-split-window 'select-layout tiled'",
      "set-hook -g client-attached 'select-layout tiled'",
    ].join("\n");
    const tmux = privateTmux({ config });
    const { session, pane } = tmux.session();
    await tmux.attach(session, { width: 70, height: 20 });
    const findings = await checkTmuxOptions(tmux.inside(pane));
    const texts = Object.fromEntries(findings.map(({ name, level, text }) => [name, `${level}: ${text}`]));
    expect(texts).toEqual({
      "tmux default-terminal": "warn: screen: programs in panes expect few colours",
      // The attached terminal is a tmux too, and reports its own capabilities.
      "tmux true colour": "ok: passed on",
      "tmux escape-time": "warn: 500 ms: Esc interrupts an agent with this delay",
      "tmux mouse": "warn: off: the sidebar accepts only keys, and the mouse wheel does not scroll",
      "tmux clipboard": "warn: off: what you copy in a pane stays in tmux",
      "tmux numbering": "ok: windows from 1, panes from 1",
      "tmux hooks": "warn: after-split-window may rearrange agents' panes",
      "tmux size": "warn: 70×20: a window has room for fewer than two agents",
    });
    for (const { level, remedy } of findings) expect(remedy !== undefined).toBe(level !== "ok");
  });

  test("reports no problem if all options are good, even with several terminals", async () => {
    const config = [
      "set -g default-terminal tmux-256color",
      "set -s escape-time 10",
      "set -g mouse on",
      "set -s set-clipboard on",
      "set -as terminal-features ',*:RGB'",
      "set -g window-size latest",
    ].join("\n");
    const tmux = privateTmux({ config });
    const { session, pane } = tmux.session();
    await tmux.attach(session, { width: 200, height: 50 });
    await tmux.attach(session, { width: 100, height: 40 });
    expect((await checkTmuxOptions(tmux.inside(pane))).filter(({ level }) => level !== "ok")).toEqual([]);
    tmux.tmux("set-option", "-g", "window-size", "smallest");
    const size = (await checkTmuxOptions(tmux.inside(pane))).find(({ name }) => name === "tmux size");
    expect(size).toMatchObject({ level: "warn", text: expect.stringContaining("as small as the smallest") });
  });
});
