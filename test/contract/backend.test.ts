import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Backend, Placement, SpawnRequest } from "../../src/backend/backend.ts";
import { inProcessBackend } from "../../src/backend/in-process/in-process-backend.ts";
import { iterm2Backend } from "../../src/backend/iterm2/iterm2-backend.ts";
import { processBackend } from "../../src/backend/process-backend.ts";
import { tmuxPaneBackend } from "../../src/backend/tmux/tmux-backend.ts";
import { TeamError } from "../../src/errors.ts";
import { hasEnvEntry, processTable } from "../../src/os/process/process-table.ts";
import { programWorker } from "../support/backend/program-worker.ts";
import { AGENTS, end, endAll, placesOf, requestFor } from "../support/backend/spawn-requests.ts";
import { eventually } from "../support/timing/eventually.ts";
import { iterm2 } from "../support/tmux/fake-iterm2.ts";
import { type PrivateTmux, privateTmux } from "../support/tmux/private-tmux.ts";

interface Subject {
  readonly backend: Backend;
  readonly placement: Placement;
  /** The environment of a caller in this place, if it has its own. */
  readonly t?: PrivateTmux;
  /** Returns whether the place no longer shows any agent. */
  nothingLeft(): boolean;
}

const BACKENDS: Record<string, (t: PrivateTmux, readyTimeoutMs: number) => Subject> = {
  "tmux panes": (t, readyTimeoutMs) => {
    const { pane } = t.session();
    return {
      backend: tmuxPaneBackend({ server: t.server, env: t.inside(pane), readyTimeoutMs }),
      placement: { kind: "team-window", callerPane: pane },
      nothingLeft: () => t.tmux("list-panes", "-a").split("\n").length === 1,
    };
  },
  "one tmux window for each teammate": (t, readyTimeoutMs) => {
    const { pane } = t.session();
    return {
      backend: tmuxPaneBackend({ server: t.server, env: t.inside(pane), readyTimeoutMs }),
      placement: { kind: "window", callerPane: pane },
      nothingLeft: () => t.tmux("list-panes", "-a").split("\n").length === 1,
    };
  },
  "tmux panes in the caller's window": (t, readyTimeoutMs) => {
    const { pane } = t.session();
    const before = t.tmux("list-windows", "-a");
    return {
      backend: tmuxPaneBackend({ server: t.server, env: t.inside(pane), readyTimeoutMs }),
      placement: { kind: "here", callerPane: pane },
      nothingLeft: () => t.tmux("list-windows", "-a") === before,
    };
  },
  "a detached tmux session": (t, readyTimeoutMs) => ({
    backend: tmuxPaneBackend({ server: t.server, env: t.env, readyTimeoutMs }),
    placement: { kind: "session" },
    nothingLeft: () => true,
  }),
  "iTerm2 windows": (t, readyTimeoutMs) => {
    const terminal = iterm2(t);
    return {
      backend: iterm2Backend({ env: terminal.env, readyTimeoutMs }),
      placement: { kind: "team-window" },
      t: { ...t, env: { ...terminal.env, PATH: terminal.env.PATH ?? "" } },
      nothingLeft: () => terminal.sessions().length === 0,
    };
  },
  "child processes": (_, readyTimeoutMs) => ({
    backend: processBackend({ readyTimeoutMs }),
    placement: { kind: "session" },
    nothingLeft: () => true,
  }),
  "the lead's process": (_, readyTimeoutMs) => {
    const backend = inProcessBackend({ readyTimeoutMs, runWorker: programWorker });
    return { backend, placement: { kind: "session" }, nothingLeft: () => backend.agents().length === 0 };
  },
};

describe.each(Object.entries(BACKENDS))("the backend for %s", (_, make) => {
  test("starts several teammates at once, each with its arguments, directory and environment (S2, S10)", async () => {
    const { t, backend, placement } = setUp(make);
    const hostile = "a'b\"c $(touch pwned) `id` \\ ; #{pane_id} {{x}} é😀\n second  line\t;";
    const cwd = join(t.home, "a dir's “näme” $(x)");
    mkdirSync(cwd);
    const requests = ["one", "two", "three"].map((name) =>
      requestFor(t, name, { cwd, env: { SECRET: `${hostile}${name}` }, extraArgs: [hostile, ""] }),
    );
    const outcomes = await backend.spawn(requests, placement);
    expect(outcomes.map((o) => (o.ok ? o.name : o.error))).toEqual(["one", "two", "three"]);
    const pids = new Set<number>();
    for (const request of requests) {
      const { pid } = JSON.parse(readFileSync(request.paths.status, "utf8")).process;
      pids.add(pid);
      expect(readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(-3, -1)).toEqual([hostile, ""]);
      expect(hasEnvEntry(pid, `SECRET=${hostile}${request.name}`)).toBe(true);
      expect(hasEnvEntry(pid, `TEAMS_INSTANCE=${request.instance}`)).toBe(true);
      expect(readFileSync(`/proc/${pid}/environ`, "utf8")).toContain(`\0PWD=${cwd}\0`);
    }
    expect(pids.size).toBe(3);
    expect(existsSync(join(cwd, "pwned"))).toBe(false);
    await endAll(backend, outcomes);
  });

  test("knows which teammates exist, returns their output, and closes them", async () => {
    const { t, backend, placement, nothingLeft } = setUp(make);
    const requests = ["one", "two"].map((name) => requestFor(t, name));
    const [one, two] = placesOf(await backend.spawn(requests, placement));
    if (one === undefined || two === undefined) throw new Error("The spawn failed.");
    expect(await backend.present([one, two])).toEqual(new Set([one.instance, two.instance]));
    await eventually("the agent's output", async () =>
      (await backend.capture(one, 10))?.some((line) => line === `ready: ${one.instance}`),
    );
    const seen = await backend.visibleRows(one);
    expect(seen?.rows.map(({ text }) => text)).toContain(`ready: ${one.instance}`);
    await end(one);
    await backend.close([one]);
    expect(await backend.present([one, two])).toEqual(new Set([two.instance]));
    expect(await backend.capture(one, 10)).toBeUndefined();
    expect(await backend.visibleRows(one)).toBeUndefined();
    await end(two);
    await backend.close([two, one]);
    expect(await backend.present([one, two])).toEqual(new Set());
    expect(nothingLeft()).toBe(true);
  });

  test.each([
    [
      "exits immediately",
      (t: PrivateTmux) => requestFor(t, "bad", { argv: [`${AGENTS}dies.sh`, "3"] }),
      3,
      /no "backbone"/,
    ],
    [
      "is missing",
      (t: PrivateTmux) => requestFor(t, "bad", { argv: ["/no/such/program"] }),
      127,
      /no.such.program/,
    ],
    [
      "is not executable",
      (t: PrivateTmux) => requestFor(t, "bad", { argv: [notExecutable(t)] }),
      126,
      /ermission/,
    ],
    [
      "has no working directory",
      (t: PrivateTmux) => requestFor(t, "bad", { cwd: join(t.home, "gone") }),
      1,
      /gone/,
    ],
    [
      "exits with 0 without announcing readiness",
      (t: PrivateTmux) => requestFor(t, "bad", { argv: ["/bin/true"] }),
      0,
      /exit code 0/,
    ],
  ])("reports a program that %s as SPAWN_FAILED and leaves nothing (S13)", async (_, request, code, text) => {
    const { t, backend, placement, nothingLeft } = setUp(make);
    const bad = request(t);
    const [good, outcome] = await backend.spawn([requestFor(t, "good"), bad], placement);
    if (outcome === undefined || outcome.ok) throw new Error("The spawn should have failed.");
    expect(outcome.error).toBeInstanceOf(TeamError);
    expect(outcome.error).toMatchObject({ code: "SPAWN_FAILED", details: { exitCode: code } });
    // A terminal breaks long lines.
    expect(outcome.error.message.replaceAll("\n", "")).toMatch(text);
    expectNothingOf(bad);
    expect(good?.ok).toBe(true);
    await endAll(
      backend,
      [good].filter((o) => o !== undefined),
    );
    expect(nothingLeft()).toBe(true);
  });

  test("ends a program that never announces readiness, and reports its place before", async () => {
    const { t, backend, placement, nothingLeft } = setUp(make, 400);
    const request = requestFor(t, "mute", { argv: [`${AGENTS}silent.sh`] });
    const instances: string[] = [];
    const placed = ({ instance }: { instance: string }) => void instances.push(instance);
    const [outcome] = await backend.spawn([{ ...request, onPlaced: placed }], placement);
    expect(instances).toEqual([request.instance]);
    expect(outcome).toMatchObject({ ok: false, error: { code: "SPAWN_FAILED" } });
    expectNothingOf(request);
    expect(nothingLeft()).toBe(true);
  });

  test("ends a teammate whose place cannot be recorded, and starts the others", async () => {
    const { t, backend, placement, nothingLeft } = setUp(make);
    const bad = requestFor(t, "bad");
    const placed = (): never => {
      throw new TeamError("PERMISSION_DENIED", "The disk is full.");
    };
    const [good, outcome] = await backend.spawn(
      [requestFor(t, "good"), { ...bad, onPlaced: placed }],
      placement,
    );
    expect(outcome).toMatchObject({ ok: false, name: "bad", error: { message: "The disk is full." } });
    expectNothingOf(bad);
    await endAll(
      backend,
      [good].filter((o) => o !== undefined),
    );
    expect(nothingLeft()).toBe(true);
  });

  test("cancels an interrupted start", async () => {
    const { t, backend, placement, nothingLeft } = setUp(make);
    const request = requestFor(t, "mute", { argv: [`${AGENTS}silent.sh`] });
    const abort = new AbortController();
    const interrupted = { signal: abort.signal, onPlaced: () => abort.abort() };
    const [outcome] = await backend.spawn([{ ...request, ...interrupted }], placement);
    expect(outcome).toMatchObject({ ok: false, error: { code: "INTERRUPTED" } });
    expectNothingOf(request);
    expect(nothingLeft()).toBe(true);
  });

  test("writes files that only the user can read", async () => {
    const { t, backend, placement } = setUp(make);
    const request = requestFor(t, "one");
    const outcomes = await backend.spawn([request], placement);
    for (const file of [
      request.paths.launchScript,
      request.paths.log,
      request.paths.bell,
      request.paths.lifeline,
    ]) {
      if (existsSync(file)) expect(statSync(file).mode & 0o077).toBe(0);
    }
    await endAll(backend, outcomes);
  });
});

function setUp(make: (t: PrivateTmux, readyTimeoutMs: number) => Subject, readyTimeoutMs = 240_000) {
  const t = privateTmux();
  return { t, ...make(t, readyTimeoutMs) };
}

function expectNothingOf({ paths, instance }: SpawnRequest): void {
  expect([paths.run, paths.runtime].filter((path) => existsSync(path))).toEqual([]);
  expect(processTable().filter((row) => hasEnvEntry(row.pid, `TEAMS_INSTANCE=${instance}`))).toEqual([]);
}

function notExecutable(t: PrivateTmux): string {
  const file = join(t.home, "plain.txt");
  writeFileSync(file, "just text\n");
  chmodSync(file, 0o600);
  return file;
}
