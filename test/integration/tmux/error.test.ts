import { describe, expect, it, onTestFinished } from "vitest";
import { signalProcess } from "../../../src/os/process/process-table.ts";
import { TmuxError } from "../../../src/tmux/error.ts";
import { listPanes } from "../../../src/tmux/list-panes.ts";
import { isNoServer, type TmuxServer, tmuxServer } from "../../../src/tmux/server.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";

/** The driver of a test's server with a short timeout. */
function impatient(t: PrivateTmux): TmuxServer {
  const { socket } = t.server;
  return tmuxServer({ ...(socket && { socket }), env: t.env, timeoutMs: 300 });
}

async function failureOf(work: Promise<unknown>): Promise<TmuxError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof TmuxError) return error;
  throw new Error(`This is not a TmuxError: ${String(error)}`);
}

describe("TmuxError", () => {
  it("says that nothing was done without a server", async () => {
    const t = privateTmux();
    for (const work of [t.server.call(["list-sessions"]), t.server.batch([["list-sessions"]])]) {
      const error = await failureOf(work);
      expect(error).toMatchObject({ code: "TMUX_ERROR", kind: "no-server", done: "nothing" });
      expect(isNoServer(error)).toBe(true);
    }
  });

  it.each([
    ["pane", ["kill-pane", "-t", "%77"]],
    ["window", ["select-layout", "-t", "@77", "tiled"]],
    ["session", ["kill-session", "-t", "=nobody"]],
    ["client", ["switch-client", "-c", "nobody", "-t", "%0"]],
    ["pane", ["set-option", "-p", "-t", "%77", "@a", "b"]],
  ])("reports a missing %s: %j", async (_, command) => {
    const t = privateTmux();
    t.session();
    const error = await failureOf(t.server.call(command));
    expect(error).toMatchObject({ kind: "no-target", done: "nothing", command });
    expect(isNoServer(error)).toBe(false);
  });

  it("contains the refused command and tmux's message", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const command = ["set-option", "-p", "-t", pane, "no-such-option", "on"];
    expect((await failureOf(t.server.call(command))).details).toEqual({
      kind: "refused",
      done: "nothing",
      command,
      stderr: "invalid option: no-such-option",
    });
  });

  it("says that a batch with an unknown command did nothing at all", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const error = await failureOf(
      t.server.batch([
        ["set-option", "-p", "-t", pane, "@first", "done"],
        ["no-such-command", "x"],
      ]),
    );
    expect(error.details).toMatchObject({
      kind: "refused",
      done: "nothing",
      commands: ["set-option", "no-such-command"],
      printed: [],
    });
    expect(t.tmux("show-options", "-p", "-q", "-v", "-t", pane, "@first")).toBe("");
  });

  it("reports a timeout when the server is stopped, for calls and batches", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const pid = Number(t.tmux("display-message", "-p", "#{pid}"));
    const server = impatient(t);
    process.kill(pid, "SIGSTOP");
    // Must run before the server is ended: a stopped server does not react.
    onTestFinished(() => void signalProcess(pid, "SIGCONT"));
    const calls = [server.call(["list-sessions"]), listPanes(server)];
    for (const error of await Promise.all(calls.map(failureOf))) {
      expect(error).toMatchObject({ code: "TMUX_ERROR", kind: "timed-out", done: "unknown" });
      expect(error.message).toMatch(/did not answer list-\w+ within 0\.3 seconds/);
    }
    const batch = await failureOf(server.batch([["kill-pane", "-t", pane]]));
    expect(batch.details).toMatchObject({ kind: "timed-out", done: "unknown", commands: ["kill-pane"] });
    process.kill(pid, "SIGCONT");
    // The batch was never sent again, and the server works.
    expect(t.tmux("list-sessions", "-F", "#{session_name}")).toBe("work");
  });

  it("contains what a batch had printed when the server was lost", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const pid = Number(t.tmux("display-message", "-p", "#{pid}"));
    const failure = failureOf(
      t.server.batch([
        ["display-message", "-p", "-t", pane, "made one"],
        ["set-option", "-p", "-t", pane, "@reached", "here"],
        ["wait-for", "never"],
        ["set-option", "-p", "-t", pane, "@secret", "s3cret"],
      ]),
    );
    await eventually("the middle of the batch", () =>
      t.tmux("show-options", "-p", "-q", "-v", "-t", pane, "@reached").includes("here"),
    );
    process.kill(pid, "SIGKILL");
    const error = await failure;
    expect(error).toMatchObject({ code: "TMUX_ERROR", kind: "lost-server", done: "some" });
    expect(error.details).toMatchObject({
      commands: ["display-message", "set-option", "wait-for", "set-option"],
      printed: ["made one"],
    });
    expect(JSON.stringify(error.details)).not.toContain("s3cret");
    expect(isNoServer(error)).toBe(true);
  });

  it("has the code TMUX_NOT_FOUND if tmux is missing", async () => {
    const t = privateTmux();
    const error = await failureOf(tmuxServer({ env: { PATH: t.home } }).call(["list-sessions"]));
    expect(error).toMatchObject({ code: "TMUX_NOT_FOUND", kind: "not-found", done: "nothing" });
  });

  it("does not say that tmux is missing if the system cannot start it", async () => {
    const t = privateTmux();
    const error = await failureOf(t.server.call(["display-message", "-p", "x".repeat(4 * 1024 * 1024)]));
    const stderr = "spawn E2BIG";
    expect(error).toMatchObject({ code: "TMUX_ERROR", kind: "refused", done: "nothing", stderr });
  });
});

describe("a server without sessions", () => {
  it("is listed as running, with no panes", async () => {
    const t = privateTmux({ config: "set -s exit-empty off" });
    t.tmux("start-server");
    expect(await listPanes(t.server)).toMatchObject({ running: true, panes: [] });
  });
});
