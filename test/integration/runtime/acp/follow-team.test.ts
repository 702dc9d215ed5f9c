import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SessionFact } from "../../../../src/runtime/acp/facts.ts";
import { followTeammates, replayLead } from "../../../../src/runtime/acp/follow-team.ts";
import { removeRun } from "../../../../src/team/records/read-records.ts";
import { prepareRun, writeStatus } from "../../../../src/team/records/write-records.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";

const answered = (block: object): string =>
  `${JSON.stringify({ type: "assistant", message: { role: "assistant", content: [block] } })}\n`;
const called = (id: string): string =>
  answered({ type: "tool_use", id, name: "Bash", input: { command: id } });

/** A team with `ada`, whose conversation has one call, and the calls that are shown. */
async function followed(isNew: boolean) {
  const ref = await testTeam(["ada"]);
  const transcript = join(temporaryDirectory(), "ada.jsonl");
  writeFileSync(transcript, called("before"));
  await prepareRun(ref, ["ada"]);
  writeStatus(ref, "ada", statusOf({ transcript }));
  const facts: SessionFact[] = [];
  const check = followTeammates(ref, isNew, (fact) => facts.push(fact));
  const calls = (): string[] => facts.flatMap((fact) => (fact.kind === "call" ? [fact.id] : []));
  return { ref, transcript, check, calls, restart: () => writeStatus(ref, "ada", statusOf({ transcript })) };
}

describe("followTeammates", () => {
  it("shows each call once, even if a teammate starts again with its conversation", async () => {
    const { ref, transcript, check, calls, restart } = await followed(true);
    check();
    expect(calls()).toEqual(["ada/before"]);
    removeRun(ref, "ada");
    check();
    await prepareRun(ref, ["ada"]);
    restart();
    appendFileSync(transcript, called("after"));
    check();
    check();
    expect(calls()).toEqual(["ada/before", "ada/after"]);
  });

  it("shows only the later calls of a resumed team", async () => {
    const { transcript, check, calls } = await followed(false);
    appendFileSync(transcript, called("after"));
    check();
    expect(calls()).toEqual(["ada/after"]);
  });

  it("shows the last calls of a teammate that has left", async () => {
    const { ref, transcript, check, calls } = await followed(true);
    check();
    appendFileSync(transcript, called("last"));
    removeRun(ref, "ada");
    check();
    expect(calls()).toEqual(["ada/before", "ada/last"]);
  });
});

describe("replayLead", () => {
  it("waits for the client between the parts of a long conversation", async () => {
    const transcript = join(temporaryDirectory(), "lead.jsonl");
    const said = (text: string): string => answered({ type: "text", text });
    writeFileSync(transcript, Array.from({ length: 450 }, (_, at) => said(String(at))).join(""));
    const texts: string[] = [];
    const atFlush: number[] = [];
    await replayLead(transcript, {
      show: (fact) => void (fact.kind === "text" && texts.push(fact.text)),
      flushed: async () => void atFlush.push(texts.length),
    });
    expect(texts).toEqual(Array.from({ length: 450 }, (_, at) => String(at)));
    expect(Math.max(...atFlush.map((count, at) => count - (atFlush[at - 1] ?? 0)))).toBeLessThanOrEqual(100);
  });
});
