import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  type InProcessBackend,
  inProcessBackend,
} from "../../../../src/backend/in-process/in-process-backend.ts";
import type { RunWorker, WorkerStart } from "../../../../src/backend/in-process/resident-agent.ts";
import { announceReady } from "../../../../src/launch/announce-ready.ts";
import { containErrors, currentAgent, processEnv, runAsAgent } from "../../../../src/os/env.ts";
import { replaceFile } from "../../../../src/os/files/atomic-write.ts";
import { ownIdentity } from "../../../../src/os/process/identity.ts";
import { placesOf, requestFor } from "../../../support/backend/spawn-requests.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../../support/tmux/private-tmux.ts";

/** Returns a backend whose workers are functions: each announces readiness, then runs its function. */
function backendWith(
  t: PrivateTmux,
  workers: Record<string, (start: WorkerStart) => Promise<number>>,
  problem: (text: string) => void = () => undefined,
) {
  const runWorker: RunWorker = async (start) => {
    const { paths, instance, name } = start.request;
    const process = ownIdentity();
    const common = { sessionId: "s", transcript: "t", since: 0, startedAt: 0, lastActivityAt: 0 };
    replaceFile(paths.status, JSON.stringify({ ...common, process, instance, shared: true, state: "idle" }));
    announceReady(paths);
    const worker = workers[name];
    if (worker === undefined) throw new Error(`no worker is named ${name}`);
    return worker(start);
  };
  const backend = inProcessBackend({ runWorker, problem });
  const spawn = async (...names: string[]) =>
    placesOf(
      await backend.spawn(
        names.map((name) => requestFor(t, name)),
        { kind: "session" },
      ),
    );
  return { backend, spawn };
}

const stateOf = (backend: InProcessBackend, name: string) =>
  backend.agents().find((agent) => agent.name === name)?.state;
const exitOf = (t: PrivateTmux, name: string) =>
  JSON.parse(readFileSync(t.paths("audit").agent(name).exit, "utf8"));
const untilAborted = ({ signal }: WorkerStart): Promise<number> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(143)));
const never = (): Promise<number> => new Promise(() => undefined);

it("in-process backend › an uncaught error ends only the teammate whose code threw it", async () => {
  const t = privateTmux();
  const { backend, spawn } = backendWith(t, {
    calm: untilAborted,
    late: (start) => {
      setTimeout(() => {
        throw new Error("thrown in a timer");
      }, 1);
      return untilAborted(start);
    },
    lost: (start) => {
      void Promise.reject(new Error("a promise that nobody waits for"));
      return untilAborted(start);
    },
    early: async () => {
      throw new Error("thrown at once");
    },
  });
  // Without the test runner's listeners an error that escapes would end the lead.
  const others = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  const rejections = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  try {
    const places = await spawn("calm", "late", "lost", "early").catch((error: unknown) => error as Error);
    await eventually("three failures", () =>
      ["late", "lost", "early"].every((name) => stateOf(backend, name) === "failed"),
    );
    expect(stateOf(backend, "calm")).toBe("pending");
    expect(exitOf(t, "late")).toMatchObject({ code: 1, lastLines: ["teams: thrown in a timer"] });
    expect(exitOf(t, "lost")).toMatchObject({
      code: 1,
      lastLines: ["teams: a promise that nobody waits for"],
    });
    if (places instanceof Error) throw places;
    await Promise.all(places.map((place) => backend.end?.(place, 1_000)));
    await backend.close(places);
  } finally {
    for (const listener of others) process.on("uncaughtException", listener);
    for (const listener of rejections) process.on("unhandledRejection", listener);
  }
});

it("containErrors › rethrows an error that belongs to no agent", () => {
  const stop = containErrors();
  const listener = process.listeners("uncaughtException").at(-1) as (error: Error) => void;
  expect(() => listener(new Error("the lead's own"))).toThrow("the lead's own");
  stop();
  expect(process.listeners("uncaughtException")).not.toContain(listener);
});

it("runAsAgent › runs code, and its later callbacks, with the agent's name and environment", async () => {
  const names: (string | undefined)[] = [];
  const note = (): void => void names.push(`${currentAgent()?.agentId} ${processEnv().MARK}`);
  const agent = (agentId: string) => ({ agentId, env: { MARK: agentId }, failed: () => undefined });
  await Promise.all(
    ["a@x", "b@x"].map((id) =>
      runAsAgent(agent(id), () => new Promise<void>((resolve) => setTimeout(resolve, 1)).then(note)),
    ),
  );
  expect(names.toSorted()).toEqual(["a@x a@x", "b@x b@x"]);
  expect(currentAgent()).toBeUndefined();
  expect(processEnv().MARK).toBeUndefined();
});

it("in-process backend › gives up a teammate that does not end in time, and silences it", async () => {
  const t = privateTmux();
  let seen: WorkerStart | undefined;
  const { backend, spawn } = backendWith(t, {
    deaf: (start) => {
      seen = start;
      return never();
    },
  });
  const [place] = await spawn("deaf");
  if (place === undefined) throw new Error("not started");
  expect(seen?.isOver()).toBe(false);
  expect(await backend.end?.(place, 50)).toEqual([process.pid]);
  expect(stateOf(backend, "deaf")).toBe("killed");
  expect(seen?.isOver()).toBe(true);
  expect(exitOf(t, "deaf")).toMatchObject({ code: 143, signal: "SIGTERM" });
  expect(await backend.present([place])).toEqual(new Set());
  await backend.close([place]);
  expect(backend.agents()).toEqual([]);
});

it("in-process backend › records a hangup for every teammate when the terminal is gone", async () => {
  const t = privateTmux();
  const { backend, spawn } = backendWith(t, { one: untilAborted, two: untilAborted });
  const places = await spawn("one", "two");
  await backend.hangUp();
  for (const name of ["one", "two"]) expect(exitOf(t, name)).toMatchObject({ code: 129, signal: "SIGHUP" });
  await backend.close(places);
});

it("in-process backend › reports an ending that cannot be recorded, and marks the agent as failed", async () => {
  const t = privateTmux();
  let end = (_code: number): void => undefined;
  const problems: string[] = [];
  const { backend, spawn } = backendWith(
    t,
    { odd: () => new Promise((resolve) => (end = resolve)) },
    (text) => void problems.push(text),
  );
  const places = await spawn("odd");
  mkdirSync(t.paths("audit").agent("odd").exit);
  end(3);
  await eventually("the problem", () => problems.length > 0);
  expect(problems.join()).toContain("the ending of odd could not be recorded");
  expect(stateOf(backend, "odd")).toBe("failed");
  expect(backend.agents()[0]?.output.lines().join()).toContain("could not be recorded");
  await backend.close(places);
});

it("whenAllIdle › resolves when all teammates are idle, and not before", async () => {
  const t = privateTmux();
  const starts = new Map<string, WorkerStart>();
  const keep = (start: WorkerStart): Promise<number> => {
    starts.set(start.request.name, start);
    return untilAborted(start);
  };
  const { backend, spawn } = backendWith(t, { one: keep, two: keep });
  await backend.whenAllIdle();
  const places = await spawn("one", "two");
  const resolved: string[] = [];
  const waiting = backend.whenAllIdle().then(() => void resolved.push("idle"));
  for (const [name, state] of [
    ["one", "idle"],
    ["two", "running"],
    ["two", "awaiting-approval"],
    ["one", "running"],
    ["two", "idle"],
  ] as const) {
    starts.get(name)?.reportState(state);
    await new Promise((resolve) => setImmediate(resolve));
    expect(resolved).toEqual([]);
  }
  starts.get("one")?.reportState("idle");
  await waiting;
  await Promise.all(places.map((place) => backend.end?.(place, 1_000)));
  await backend.whenAllIdle();
  await backend.close(places);
});

it("in-process backend › another process can end a teammate through a file, and learns of the end", async () => {
  const t = privateTmux();
  const { backend, spawn } = backendWith(t, { one: untilAborted });
  const [place] = await spawn("one");
  if (place === undefined) throw new Error("not started");
  // A backend of another command, which has no teammates.
  const elsewhere = inProcessBackend();
  expect(await elsewhere.present([place])).toEqual(new Set([place.instance]));
  expect(await elsewhere.end?.(place, 50)).toEqual([process.pid]);
  expect(stateOf(backend, "one")).toBe("pending");
  const ending = elsewhere.end?.(place, 5_000);
  backend.handleEndRequests();
  expect(await ending).toEqual([]);
  expect(stateOf(backend, "one")).toBe("killed");
  expect(await elsewhere.present([place])).toEqual(new Set());
  await elsewhere.close([place]);
  expect(existsSync(place.logFile ?? "")).toBe(false);
  backend.handleEndRequests();
  expect(backend.agents()).toEqual([]);
});
