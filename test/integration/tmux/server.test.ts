import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { run } from "../../../src/os/process/run.ts";
import { MISS, onlyIf } from "../../../src/tmux/command.ts";
import { paneId } from "../../../src/tmux/ids.ts";
import { paste } from "../../../src/tmux/keys.ts";
import { listPanes } from "../../../src/tmux/list-panes.ts";
import { isNoServer, tmuxServer } from "../../../src/tmux/server.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { impatientServer, WAITS } from "../../support/tmux/impatient-server.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

describe("tmux batch", () => {
  test("continues after a failing command, and reports the failure", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const result = await t.server.batch([
      ["kill-pane", "-t", "%999"],
      ["display-message", "-p", "-t", pane, "still here"],
    ]);
    expect(result.lines).toEqual(["still here"]);
    expect(result.errors).toEqual([expect.stringContaining("%999")]);
  });

  test("stops a chain at its failing command", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const say = (text: string) => ["display-message", "-p", "-t", pane, text];
    const { lines } = await t.server.batch([
      { chain: [say("one"), ["kill-pane", "-t", "%999"], say("two")] },
      say("three"),
    ]);
    expect(lines).toEqual(["one", "three"]);
  });

  test("succeeds if it ran to its end, whatever the exit status and output of the user's hooks", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    for (const hook of ["after-list-panes", "after-split-window", "after-display-message"])
      t.tmux("set-hook", "-g", hook, "run-shell 'echo noise; exit 3'");
    const split = ["split-window", "-d", "-t", pane, "-P", "-F", "made #{pane_id}", "--", "env", "cat"];
    expect((await t.server.batch([split])).lines).toContain("made %1");
    const { running, serverPid, panes } = await listPanes(t.server);
    expect([running, panes.map(({ id }) => id)]).toEqual([true, ["%0", "%1"]]);
    expect(serverPid).toBeGreaterThan(1);
  });

  test("names the hook that it may wait for", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    t.tmux("set-hook", "-g", "after-split-window", WAITS);
    const server = impatientServer(t);
    const split = ["split-window", "-d", "-t", pane, "-P", "-F", "made #{pane_id}", "--", "env", "cat"];
    await expect(server.batch([split, ["kill-pane", "-t", pane]])).rejects.toMatchObject({
      kind: "timed-out",
      hint: expect.stringContaining("tmux show-hooks -g after-split-window"),
      printed: ["made %1"],
    });
  });

  test("runs only on the intended server, and otherwise reports that it did nothing", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const serverPid = Number(t.tmux("display-message", "-p", "#{pid}"));
    const commands = [["set-option", "-p", "-t", pane, "@x", 'y"; }\n%endif']];
    await expect(t.server.batch(commands, { serverPid: serverPid + 1 })).rejects.toMatchObject({
      kind: "lost-server",
      done: "nothing",
    });
    expect(t.tmux("show-options", "-p", "-t", pane)).toBe("");
    expect((await t.server.batch(commands, { serverPid })).errors).toEqual([]);
    expect(t.tmux("show-options", "-p", "-v", "-t", pane, "@x")).toBe('y"; }\n%endif');
  });

  test("may be larger than the arguments of one call", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const big = "x".repeat(100_000);
    await t.server.batch([["set-option", "-p", "-t", pane, "@big", big]]);
    expect((await t.server.call(["show-options", "-p", "-v", "-t", pane, "@big"])).trim()).toBe(big);
  });

  test("starts a server only on request", async () => {
    const t = privateTmux();
    const refused = t.server.batch([["list-sessions"]]);
    await expect(refused).rejects.toSatisfy(isNoServer);
    await t.server.batch([["new-session", "-d", "-s", "x", "--", "env", "cat"]], { start: true });
    expect(t.tmux("list-sessions", "-F", "#{session_name}")).toBe("x");
  });

  test("goes to the named server, not to the caller's", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const byDefault = tmuxServer({ env: t.inside(pane) });
    await expect(byDefault.batch([["list-sessions"]])).rejects.toSatisfy(isNoServer);
  });
});

describe("tmux problems", () => {
  test("a missing tmux gives TMUX_NOT_FOUND with a hint", async () => {
    const t = privateTmux();
    const server = tmuxServer({ env: { ...t.env, PATH: t.home } });
    await expect(listPanes(server)).rejects.toMatchObject({
      code: "TMUX_NOT_FOUND",
      hint: expect.stringContaining("Install tmux 3.2"),
    });
  });

  test("a tmux that is too old gives TMUX_ERROR with its version", async () => {
    const t = privateTmux();
    t.session();
    const old = join(t.home, "old");
    mkdirSync(old);
    const path = (await run("which", ["tmux"])).stdout.trim();
    symlinkSync(path, join(old, "real-tmux"));
    // Reports a version of 2020.
    writeFileSync(join(old, "tmux"), `#!/bin/sh\nreal-tmux "$@" | sed 's/3\\.[0-9][a-z]*/3.1c/'\n`);
    chmodSync(join(old, "tmux"), 0o755);
    const { socket } = t.server;
    const server = tmuxServer({ ...(socket && { socket }), env: { ...t.env, PATH: `${old}:${t.env.PATH}` } });
    await expect(listPanes(server)).rejects.toMatchObject({
      code: "TMUX_ERROR",
      message: expect.stringContaining("3.1c is too old"),
    });
  });

  test("a refused command is in the error's details", async () => {
    const t = privateTmux();
    t.session();
    await expect(t.server.call(["kill-window", "-t", "@99"])).rejects.toMatchObject({
      code: "TMUX_ERROR",
      details: { kind: "no-target", command: ["kill-window", "-t", "@99"] },
    });
  });

  test("listing panes without a server returns none and starts no server", async () => {
    const t = privateTmux();
    expect(await listPanes(t.server)).toEqual({ running: false, serverPid: undefined, panes: [] });
    expect(() => t.tmux("list-sessions")).toThrow();
  });
});

describe("onlyIf", () => {
  test("acts on the intended pane, and on no other if it is gone", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const here = paneId(pane);
    const gone = paneId("%77");
    if (here === undefined || gone === undefined) throw new Error("invalid pane ids");
    const act = (id: typeof here) =>
      t.server.call(onlyIf(id, `#{==:#{pane_id},${id}}`, ["display-message", "-p", "acted"]));
    expect((await act(here)).trim()).toBe("acted");
    expect((await act(gone)).trim()).toBe(MISS);
  });
});

describe("paste", () => {
  test("arrives as one bracketed paste without control characters", async () => {
    const t = privateTmux();
    t.session();
    const out = join(t.home, "keys");
    const text = "first\nsecond \x1b[201~ \x07third é😀";
    const pane = paneId(
      t.tmux(
        ...["new-window", "-d", "-t", "=work:", "-P", "-F", "#{pane_id}", "--", "/bin/sh", "-c"],
        `stty raw -echo; printf '\\033[?2004h'; printf x; dd bs=1 count=${12 + Buffer.byteLength("first\rsecond [201~ third é😀")} of='${out}' 2>/dev/null; mv '${out}' '${out}.done'`,
      ),
    );
    if (pane === undefined) throw new Error("tmux printed no pane id.");
    await eventually("the program", () => t.tmux("capture-pane", "-p", "-t", pane).includes("x"));
    await t.server.batch(paste(pane, text, "teams-test"));
    await eventually("the paste", () => existsSync(`${out}.done`));
    expect(readFileSync(`${out}.done`, "utf8")).toBe("\x1b[200~first\rsecond [201~ third é😀\x1b[201~");
    expect(t.tmux("list-buffers")).toBe("");
  });
});
