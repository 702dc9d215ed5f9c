import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { teamMember } from "../../../src/schema/config.ts";
import { exitRecord, statusRecord } from "../../../src/schema/status.ts";
import { judge } from "../../../src/team/members/judge-liveness.ts";
import { watchLifeline } from "../../../src/wakeup/lifeline.ts";
import { type Launched, launched, SHELLS } from "../../support/backend/launched-agent.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { AGENT_OF, ENDINGS, type EndingCase } from "./ending-cases.ts";

const PAGE = fileURLToPath(new URL("../../../docs/endings.md", import.meta.url));
const TABLE = /(<!-- endings -->\n\n)[\s\S]*(\n\n<!-- end -->)/;

describe.each(SHELLS)("An agent behind the launch script in %s, called sh", (shell) => {
  test.each(ENDINGS.map((one) => [`${one.of} · ${one.what}`, one] as const))("%s", async (_, one) => {
    const run = await launched(shell, { agent: AGENT_OF[one.of] });
    if (one.of === "crashed") await crash(run);
    const program = run.program();
    const lifeline = watchLifeline(run.paths.lifeline);
    onTestFinished(() => lifeline.close());
    await one.end(run);
    await hears[one.heard](run, lifeline.ended);
    await follows[one.pane](run, program);
    expect(written(run)).toEqual(one.written);
  });
});

/** Lets the agent exit with 3, and waits for what stays of it. */
async function crash(run: Launched): Promise<void> {
  run.type("exit 3");
  await eventually("what to press", () => run.screen().includes("q + Enter closes this pane"));
  expect(await run.bell.wait({ timeoutMs: 5000 })).toBe("rung");
}

const hears: Record<EndingCase["heard"], (run: Launched, lifeline: Promise<void>) => Promise<unknown>> = {
  bell: async (run) => expect(await run.bell.wait({ timeoutMs: 5000 })).toBe("rung"),
  lifeline: (_, lifeline) => lifeline,
  nothing: async () => undefined,
};

/** Each waits until it is so. */
const follows: Record<EndingCase["pane"], (run: Launched, program: number) => Promise<unknown>> = {
  held: async (run) => {
    await eventually("what to press", () => run.screen().includes("q + Enter closes this pane"));
    // What was typed before is not acted on late.
    run.tmux("send-keys", "-t", run.pane, "-l", "still held");
    await eventually("an echo", () => run.screen().includes("still held"));
  },
  closed: async (run, program) => {
    await eventually("the script's end", () => run.isGone(run.outer()));
    await eventually("the program's end", () => run.isGone(program));
  },
  "goes on": async (run) => {
    run.type("still here");
    await eventually("an answer", () => run.screen().includes("got: still here"));
  },
  "without terminal": async (run, program) => {
    await eventually("the script's end", () => run.isGone(run.outer()));
    expect(run.isGone(program)).toBe(false);
  },
  "starts again": (run, program) => eventually("another start", () => run.program() !== program),
};

function written(run: Launched): EndingCase["written"] {
  const record = run.exit();
  if (record === undefined) return "nothing";
  const { instance, code, signal, at, lastLines } = record;
  expect(instance).toBe(run.instance);
  expect(Math.abs(at - Date.now())).toBeLessThan(10_000);
  const lines = lastLines.includes(`ready: ${run.instance}`);
  if (!lines) expect(lastLines).toEqual([]);
  return { code, lines, ...(signal === undefined ? {} : { signal }) };
}

test("docs/endings.md lists all of them; `vitest -u` writes them there", async () => {
  const page = readFileSync(PAGE, "utf8");
  expect(page).toMatch(TABLE);
  await expect(page.replace(TABLE, (_, head, foot) => `${head}${table()}${foot}`)).toMatchFileSnapshot(PAGE);
});

const OF: Record<EndingCase["of"], string> = {
  working: "An agent at work",
  deaf: "A program that ignores SIGHUP, SIGINT, SIGQUIT, SIGTERM",
  crashed: "A pane that waits for a person, after an exit with 3",
};
const HEARD = { bell: "bell", lifeline: "lifeline", nothing: "–" };
const PANE: Record<EndingCase["pane"], string> = {
  held: "stays, says what to press",
  closed: "closes",
  "goes on": "goes on",
  "without terminal": "closes; the program goes on",
  "starts again": "starts the program again",
};

function table(): string {
  const rows = ENDINGS.map((one, i) => {
    const of = one.of === ENDINGS[i - 1]?.of ? "" : `| **${OF[one.of]}** | | | | |\n`;
    return `${of}| ${one.what} | ${recordOf(one)} | ${HEARD[one.heard]} | ${stateOf(one)} | ${PANE[one.pane]} |`;
  });
  const head = "| What happens | Written down | Heard by | State | Pane |\n| --- | --- | --- | --- | --- |";
  return `${head}\n${rows.join("\n")}`;
}

function recordOf({ written: record }: EndingCase): string {
  if (record === "nothing") return "–";
  const { code, signal, lines } = record;
  return [signal ?? `exit code ${code}`, ...(lines ? ["last lines"] : [])].join(", ");
}

/** What `teams status` says of one that was at work. */
function stateOf({ written: record, pane, saysSo = false }: EndingCase): string {
  if (pane !== "held" && pane !== "closed") return "running";
  const own = { sessionId: "s", transcript: "t", since: 0, startedAt: 0, lastActivityAt: 0 };
  const status = statusRecord.parse({
    ...own,
    process: { pid: 1, procStart: "1" },
    instance: "i",
    state: saysSo ? "exited" : "running",
  });
  const exit = record === "nothing" ? undefined : exitRecord.parse({ ...record, instance: "i", at: 0 });
  return judge(teamMember.parse({ name: "a" }), { status, place: undefined, exit }, () => "dead").state;
}
