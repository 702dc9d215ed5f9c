import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { requestShutdown } from "../../../../src/operations/ending/shutdown.ts";
import { resumePaused } from "../../../../src/operations/resume/resume-paused.ts";
import { runState } from "../../../../src/operations/run/run-state.ts";
import { teamStatus } from "../../../../src/operations/status.ts";
import type { Clock } from "../../../../src/os/clock.ts";
import { RECORDING_VARIABLE } from "../../../../src/runtime/agent/recording.ts";
import { teamEvent } from "../../../../src/schema/event.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { readJsonLines } from "../../../../src/store/jsonl.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { readStatus } from "../../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { agreeToShutdown } from "../../../../src/team-tools/send-message.ts";
import type { WorkerOptions } from "../../../../src/worker/worker.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import {
  type FakeMessagesApi,
  type FakeReply,
  type FakeRequest,
  startFakeMessagesApi,
  toolUse,
} from "../../../support/model/fake-messages-api.ts";
import { cliIn } from "../../../support/processes/in-process-cli.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { noSlowCheck } from "../../../support/timing/no-slow-check.ts";
import { contextOf, type RunningWorker } from "../../../support/worker/start-worker.ts";
import { workerOfTest } from "../../../support/worker/test-worker.ts";

const HOUR_MS = 3_600_000;
const FINE: FakeReply = { kind: "message", blocks: [{ type: "text", text: "fine" }] };

/** A server whose limit begins with the first request; the test can change its end. */
interface LimitedApi extends FakeMessagesApi {
  /** End of the limit, in milliseconds since the epoch. */
  until: number;
}

/** A clock for agents that the test can advance. */
function movingClock(): Clock & { readonly pass: (ms: number) => void } {
  let ahead = 0;
  return {
    now: () => Date.now() + ahead,
    pass: (ms) => {
      ahead += ms;
    },
  };
}

const withClock = (clock: Clock) => (options: WorkerOptions) => ({ ...options, clock });

async function limitedApi(
  lastsMs: number,
  isLimited: (request: FakeRequest) => boolean = () => true,
): Promise<LimitedApi> {
  const limit = { until: 0 };
  const server = await startFakeMessagesApi((request, index) => {
    if (index === 0 && lastsMs > 0) limit.until = Date.now() + lastsMs;
    const leftMs = limit.until - Date.now();
    if (leftMs <= 0 || !isLimited(request)) return FINE;
    const headers = { "retry-after-ms": String(leftMs) };
    return { kind: "error", status: 429, type: "rate_limit_error", message: "Usage limit reached.", headers };
  });
  onTestFinished(() => server.close());
  return {
    ...server,
    get until() {
      return limit.until;
    },
    set until(at: number) {
      limit.until = at;
    },
  };
}

const work = (ref: TeamRef, to = "dev") => sendMessage(ref, { from: LEAD_NAME, to, text: "work" });
const stateOf = (ref: TeamRef, name = "dev") => readStatus(ref, name)?.state;
const isPaused = (ref: TeamRef, name = "dev") =>
  eventually(`${name}'s pause`, () => stateOf(ref, name) === "paused");
const isIdle = (ref: TeamRef, dev: RunningWorker, name = "dev") =>
  eventually(`${name}'s idle state`, () => stateOf(ref, name) === "idle" && dev.shown.includes("idle"));
const textsToLead = async (ref: TeamRef): Promise<string[]> =>
  (await unreadMessages(ref, LEAD_NAME)).flatMap(({ protocol, message }) =>
    protocol === undefined ? [`${message.from}: ${message.text}`] : [],
  );

test("an account limit › pauses all agents of the account with one notice, and they continue without a command", async () => {
  const ref = await testTeam(["dev", "rev"]);
  const api = await limitedApi(0);
  const clock = movingClock();
  const [dev, rev] = await Promise.all(
    ["dev", "rev"].map((name) => workerOfTest(ref, { name, api, wrap: withClock(clock) })),
  );
  const turns = (count: number) =>
    eventually(`turn ${count} of both`, () =>
      [dev, rev].every((one) => one?.shown.filter((line) => line === "idle").length === count),
    );
  await Promise.all([work(ref), work(ref, "rev")]);
  await turns(1);
  const begun = Date.now();
  api.until = begun + HOUR_MS;
  await Promise.all([work(ref), work(ref, "rev")]);
  await Promise.all([isPaused(ref), isPaused(ref, "rev")]);
  const status = await teamStatus(contextOf(ref));
  for (const name of ["dev", "rev"]) {
    const member = status.members.find((one) => one.name === name);
    expect(member).toMatchObject({ activity: expect.stringMatching(/^account limit, until \d\d:\d\d$/) });
    // The server gives the end relative to its answer.
    expect(member?.pausedUntil).toBeGreaterThanOrEqual(api.until);
    expect(member?.pausedUntil).toBeLessThanOrEqual(api.until + Date.now() - begun + 1);
  }
  expect(runState(contextOf(ref)).busy).toBe(2);
  const [record = ""] = readdirSync(join(ref.home.root, "teams-limits"));
  const file = join(ref.home.root, "teams-limits", record);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(file + readFileSync(file, "utf8")).not.toContain("key-of-dev");
  api.until = 0;
  clock.pass(2 * HOUR_MS);
  await turns(2);
  expect(await textsToLead(ref)).toEqual([
    expect.stringMatching(
      /^system: The limit of the model's account is reached \(429 Usage limit reached\): (dev|rev) is paused until \d\d:\d\d, and then continues automatically; to continue now: teams resume --now \1@crew$/,
    ),
  ]);
  expect(api.requests.length).toBeLessThanOrEqual(6);
  expect(readStatus(ref, "dev")).not.toHaveProperty("pausedUntil");
  expect(JSON.parse(readFileSync(file, "utf8")).models).toEqual({});
});

test("an account limit › continues the turn at a random moment after the limit ends, without a bell", async () => {
  const random = vi.spyOn(Math, "random").mockReturnValue(0.5);
  onTestFinished(() => void random.mockRestore());
  const timers = noSlowCheck();
  const ref = await testTeam(["dev"]);
  const api = await limitedApi(HOUR_MS);
  const clock = movingClock();
  const dev = await workerOfTest(ref, { api, wrap: withClock(clock) });
  const begun = Date.now();
  await work(ref);
  const timer = await eventually("its timer", () => timers.find(({ ms }) => ms > 0.9 * HOUR_MS));
  const until = await eventually("the end of its pause", () => readStatus(ref, "dev")?.pausedUntil);
  // Half of the 30 s over which the agents of an account are spread.
  const started = until + 15_000 - timer.ms;
  expect(started).toBeGreaterThanOrEqual(begun);
  expect(started).toBeLessThanOrEqual(Date.now());
  api.until = 0;
  clock.pass(2 * HOUR_MS);
  timer.call();
  await isIdle(ref, dev);
  expect(api.requests).toHaveLength(2);
});

test("an account limit › of an hour in any 429 does not end the turn, and resume --now continues it at once", async () => {
  const ref = await testTeam(["dev"]);
  const replies: FakeReply[] = [
    {
      kind: "error",
      status: 429,
      type: "rate_limit_error",
      message: "slow",
      headers: { "retry-after": "3600" },
    },
    {
      kind: "error",
      status: 429,
      type: "rate_limit_error",
      message: "slow",
      headers: { "retry-after": "7200" },
    },
    FINE,
  ];
  const api = await startFakeMessagesApi(replies);
  onTestFinished(() => api.close());
  const dev = await workerOfTest(ref, { api });
  await work(ref);
  await isPaused(ref);
  const first = readStatus(ref, "dev")?.pausedUntil ?? 0;
  expect(first - Date.now()).toBeGreaterThan(0.9 * HOUR_MS);
  const cli = (...words: readonly string[]) => cliIn()(words, { env: { TEAMS_HOME: ref.home.root } });
  expect(await cli("wait", "dev", "--team", "crew", "--timeout", "0.2")).toMatchObject({
    code: 5,
    err: expect.stringMatching(/dev is paused: account limit, until \d\d:\d\d/),
  });
  expect(await cli("resume", "--now", "dev@crew")).toMatchObject({ code: 0, out: "dev tries again now.\n" });
  await eventually("the next limit", () => (readStatus(ref, "dev")?.pausedUntil ?? 0) > first + HOUR_MS / 2);
  expect(await resumePaused(contextOf(ref), undefined)).toEqual([{ name: "dev", outcome: "resumed" }]);
  await isIdle(ref, dev);
  expect(api.requests).toHaveLength(3);
  expect(await resumePaused(contextOf(ref), "dev")).toEqual([{ name: "dev", outcome: "not-paused" }]);
  expect(dev.shown.filter((line) => line.startsWith("error"))).toEqual([]);
});

test("an account limit › waits for a person when teams.autoResume is false", async () => {
  const ref = await testTeam(["dev"]);
  const api = await limitedApi(HOUR_MS);
  const clock = movingClock();
  const settings = { teams: { autoResume: false } };
  const dev = await workerOfTest(ref, { api, settings, wrap: withClock(clock) });
  await work(ref);
  await isPaused(ref);
  expect(readStatus(ref, "dev")?.activity).toMatch(/until .*; waits for teams resume --now$/);
  expect((await textsToLead(ref))[0]).toMatch(
    /dev is paused until a person resumes it \(the limit ends at \d\d:\d\d\): teams resume --now dev@crew$/,
  );
  api.until = 0;
  clock.pass(2 * HOUR_MS);
  // The slow check also reads the clock.
  dev.worker.accountLimit.current?.recheck();
  await work(ref);
  await eventually("the queued message", () => dev.shown.includes("queued team-lead"));
  expect(stateOf(ref)).toBe("paused");
  expect(api.requests).toHaveLength(1);
  await resumePaused(contextOf(ref), "dev");
  await isIdle(ref, dev);
});

test("an account limit › is bridged by a fallback model, which is not used longer than needed", async () => {
  const ref = await testTeam(["dev"]);
  const api = await limitedApi(HOUR_MS, ({ body }) => body.model === "m");
  const clock = movingClock();
  const settings = { teams: { fallback: ["m", "spare"] } };
  const dev = await workerOfTest(ref, { api, settings, wrap: withClock(clock) });
  await work(ref);
  await isIdle(ref, dev);
  expect((await textsToLead(ref))[0]).toMatch(/dev continues with spare until \d\d:\d\d$/);
  api.until = 0;
  clock.pass(2 * HOUR_MS);
  dev.worker.notifyAgent("more work");
  await eventually("the agent's own model", () => dev.shown.includes("note: continues with m again"));
  await eventually("the answers", () => api.requests.length === 3);
  expect(api.requests.map(({ body }) => body.model)).toEqual(["m", "spare", "m"]);
  expect(dev.shown.join()).not.toContain("is paused");
});

test("an account limit › is bridged in a recorded run, too, and the event log names the fallback model", async () => {
  const ref = await testTeam(["dev"]);
  const api = await limitedApi(HOUR_MS, ({ body }) => body.model === "m");
  const settings = { teams: { fallback: ["spare"] } };
  const recording = join(temporaryDirectory(), "recording");
  const dev = await workerOfTest(ref, { api, settings, env: { [RECORDING_VARIABLE]: recording } });
  await work(ref);
  await isIdle(ref, dev);
  await dev.stop();
  const events = readJsonLines(ref.paths.events, teamEvent).lines.filter(({ type }) => type === "model");
  expect(events).toMatchObject([{ model: "spare", outcome: "answered" }]);
  expect(readdirSync(recording)).toEqual(["dev.jsonl"]);
});

test("an account limit › outlives the agent's process; the next process sends no request before the limit ends", async () => {
  const ref = await testTeam(["dev"]);
  const api = await limitedApi(HOUR_MS);
  const before = await workerOfTest(ref, { api });
  await work(ref);
  await isPaused(ref);
  await before.stop();
  expect(readStatus(ref, "dev")).toMatchObject({ state: "exited" });
  const after = await workerOfTest(ref, { api });
  await isPaused(ref);
  expect(api.requests).toHaveLength(1);
  expect(after.shown).toContain("note: resumes the turn in which its process ended");
  api.until = 0;
  await resumePaused(contextOf(ref), "dev");
  await isIdle(ref, after);
  expect(await textsToLead(ref)).toHaveLength(1);
});

test("an account limit › lets a person interrupt the paused turn", async () => {
  const ref = await testTeam(["dev"]);
  const api = await limitedApi(HOUR_MS);
  const dev = await workerOfTest(ref, { api });
  await work(ref);
  await isPaused(ref);
  expect(dev.worker.interrupt()).toBe(true);
  await isIdle(ref, dev);
  expect(readStatus(ref, "dev")).not.toHaveProperty("limited");
});

test("an account limit › of the lead itself alerts the user once", async () => {
  const ref = await testTeam(["dev"]);
  const api = await limitedApi(HOUR_MS);
  const lead = await workerOfTest(ref, { name: LEAD_NAME, role: "lead", api });
  await sendMessage(ref, { from: "dev", to: LEAD_NAME, text: "hello" });
  await isPaused(ref, LEAD_NAME);
  const alerts = () =>
    lead.shown.filter((line) => line.startsWith("waiting: The limit of the model's account"));
  await eventually("the message to be read", () => lead.worker.heldCount > 0 || alerts().length > 1);
  expect(alerts()).toHaveLength(1);
});

test("an account limit › of a subagent in the background does not end the turn that answers a shutdown request", async () => {
  const ref = await testTeam(["dev"]);
  const helper = { description: "look", prompt: "x", model: "b", run_in_background: true };
  const api = await startFakeMessagesApi(({ body }) => {
    if (body.model === "b") {
      const headers = { "retry-after": "3600" };
      return { kind: "error", status: 429, type: "rate_limit_error", message: "slow", headers };
    }
    const hasBegun = JSON.stringify(body.messages).includes("tool_use");
    return hasBegun ? FINE : { kind: "message", blocks: [toolUse("t1", "Agent", helper)] };
  });
  onTestFinished(() => api.close());
  const agreed: string[] = [];
  const agree = async (id: string): Promise<void> => void agreed.push(id);
  const dev = await workerOfTest(ref, { api, wrap: (own) => ({ ...own, agreeToShutdown: agree }) });
  const idles = () => dev.shown.filter((line) => line === "idle").length;
  await work(ref);
  await eventually("the limit", () => dev.shown.some((line) => line.startsWith("waiting: The limit of")));
  await eventually("the end of its turn", () => idles() === 1);
  await requestShutdown(contextOf(ref), ["dev"]);
  await eventually("the end of the next turn", () => idles() === 2);
  expect([agreed, dev.worker.wasInterrupted, dev.worker.lastText]).toEqual([[], false, "fine"]);
  expect(dev.shown).not.toContain("note: tries again after its account's limit");
});

test("an account limit › does not keep a paused agent from shutting down: it agrees without its model", async () => {
  const ref = await testTeam(["dev"]);
  const api = await limitedApi(HOUR_MS);
  const agreed: string[] = [];
  const dev = await workerOfTest(ref, {
    api,
    wrap: (options) => ({
      ...options,
      agreeToShutdown: async (requestId) => {
        agreed.push(requestId);
        await agreeToShutdown(dev.ctx, dev.worker, requestId);
      },
    }),
  });
  await work(ref);
  await isPaused(ref);
  const [[, requestId] = []] = await requestShutdown(contextOf(ref), ["dev"], "done");
  expect(await dev.ended).toBe("shutdown");
  expect(agreed).toEqual([requestId]);
  expect((await unreadMessages(ref, LEAD_NAME)).map(({ protocol }) => protocol)).toContainEqual(
    expect.objectContaining({ type: "shutdown_approved", requestId }),
  );
});
