import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { teamMember } from "../../../src/schema/config.ts";
import { exitRecord, statusRecord } from "../../../src/schema/status.ts";
import { judgeLiveness } from "../../../src/team/members/judge-liveness.ts";
import { watchLifeline } from "../../../src/wakeup/lifeline.ts";
import { type Launched, launched, SHELLS } from "../../support/backend/launched-agent.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { AGENT_OF, ENDINGS, type EndingCase } from "./ending-cases.ts";

const PAGE = fileURLToPath(new URL("../../../docs/endings.md", import.meta.url));
const TABLE = /(<!-- endings -->\n\n)[\s\S]*(\n\n<!-- end -->)/;

describe.each(SHELLS)("end of an agent, launch script run by %s as sh", (shell) => {
  const rows = ENDINGS.map((one) => [one.of, one.what, one] as const);
  test.each(rows)("is as documented for a %s agent: %s", async (_of, _what, one) => {
    const since = Date.now();
    const run = await launched(shell, { agent: AGENT_OF[one.of] });
    if (one.of === "crashed") await crash(run);
    const program = run.program();
    const lifeline = watchLifeline(run.paths.lifeline);
    onTestFinished(() => lifeline.close());
    await one.end(run);
    await expectNotification[one.notifiedBy](run, lifeline.ended);
    await expectPane[one.pane](run, program);
    expect(written(run, since)).toEqual(one.written);
  });
});

/** Lets the agent exit with 3, and waits for the prompt in its pane. */
async function crash(run: Launched): Promise<void> {
  run.type("exit 3");
  await eventually("the prompt in the pane", () => run.screen().includes("q + Enter closes this pane"));
  expect(await run.bell.wait()).toBe("rung");
}

const expectNotification: Record<
  EndingCase["notifiedBy"],
  (run: Launched, lifeline: Promise<void>) => Promise<unknown>
> = {
  bell: async (run) => expect(await run.bell.wait()).toBe("rung"),
  lifeline: (_, lifeline) => lifeline,
  nothing: async () => undefined,
};

/** Waits until the pane is in the expected state. */
const expectPane: Record<EndingCase["pane"], (run: Launched, program: number) => Promise<unknown>> = {
  held: async (run) => {
    await eventually("the prompt in the pane", () => run.screen().includes("q + Enter closes this pane"));
    // Earlier input must not be handled now.
    run.tmux("send-keys", "-t", run.pane, "-l", "still held");
    await eventually("an echo", () => run.screen().includes("still held"));
  },
  closed: async (run, program) => {
    await eventually("the script's end", () => run.isGone(run.outer()));
    await eventually("the program's end", () => run.isGone(program));
  },
  continues: async (run) => {
    run.type("still here");
    await eventually("an answer", () => run.screen().includes("got: still here"));
  },
  "without terminal": async (run, program) => {
    await eventually("the script's end", () => run.isGone(run.outer()));
    expect(run.isGone(program)).toBe(false);
  },
  "starts again": (run, program) => eventually("another start", () => run.program() !== program),
};

function written(run: Launched, since: number): EndingCase["written"] {
  const record = run.exit();
  if (record === undefined) return "nothing";
  const { instance, code, signal, at, lastLines } = record;
  expect(instance).toBe(run.instance);
  // Some shells record whole seconds.
  expect(at).toBeGreaterThan(since - 1_000);
  expect(at).toBeLessThanOrEqual(Date.now());
  const lines = lastLines.includes(`ready: ${run.instance}`);
  if (!lines) expect(lastLines).toEqual([]);
  return { code, lines, ...(signal === undefined ? {} : { signal }) };
}

test("docs/endings.md › lists all endings (vitest -u updates it)", async () => {
  const page = readFileSync(PAGE, "utf8");
  expect(page).toMatch(TABLE);
  await expect(page.replace(TABLE, (_, head, foot) => `${head}${table()}${foot}`)).toMatchFileSnapshot(PAGE);
});

const OF: Record<EndingCase["of"], string> = {
  working: "A running agent",
  deaf: "A program that ignores SIGHUP, SIGINT, SIGQUIT, SIGTERM",
  crashed: "A pane that waits for you, after an exit with 3",
};
const NOTIFIED_BY = { bell: "bell", lifeline: "lifeline", nothing: "–" };
const PANE: Record<EndingCase["pane"], string> = {
  held: "stays, shows the keys to press",
  closed: "closes",
  continues: "keeps running",
  "without terminal": "closes; the program keeps running",
  "starts again": "restarts the program",
};

function table(): string {
  const rows = ENDINGS.map((one, i) => {
    const of = one.of === ENDINGS[i - 1]?.of ? "" : `| **${OF[one.of]}** | | | | |\n`;
    return `${of}| ${one.what} | ${recordOf(one)} | ${NOTIFIED_BY[one.notifiedBy]} | ${stateOf(one)} | ${PANE[one.pane]} |`;
  });
  const head = "| Event | Recorded | Noticed by | State | Pane |\n| --- | --- | --- | --- | --- |";
  return `${head}\n${rows.join("\n")}`;
}

function recordOf({ written: record }: EndingCase): string {
  if (record === "nothing") return "–";
  const { code, signal, lines } = record;
  return [signal ?? `exit code ${code}`, ...(lines ? ["last lines"] : [])].join(", ");
}

/** Returns the state that `teams status` shows for an agent that was running. */
function stateOf({ written: record, pane, reportsExit = false }: EndingCase): string {
  if (pane !== "held" && pane !== "closed") return "running";
  const own = { sessionId: "s", transcript: "t", since: 0, startedAt: 0, lastActivityAt: 0 };
  const status = statusRecord.parse({
    ...own,
    process: { pid: 1, procStart: "1" },
    instance: "i",
    state: reportsExit ? "exited" : "running",
  });
  const exit = record === "nothing" ? undefined : exitRecord.parse({ ...record, instance: "i", at: 0 });
  return judgeLiveness(teamMember.parse({ name: "a" }), { status, place: undefined, exit }, () => "dead")
    .state;
}
