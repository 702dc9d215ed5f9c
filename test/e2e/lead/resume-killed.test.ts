import { existsSync, readFileSync, rmSync } from "node:fs";
import { expect, it } from "vitest";
import { type ResumeReport, resumeTeam } from "../../../src/operations/resume/resume.ts";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { signalProcess } from "../../../src/os/process/process-table.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import { readTeam } from "../../../src/team/config/config.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { readPlace, readStatus } from "../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { killAtEveryStep } from "../../support/kill/kill-at-every-step.ts";
import { agentsOf } from "../../support/processes/agent-processes.ts";
import { script } from "../../support/processes/script-process.ts";
import { ledTeam } from "../../support/team/led-team.ts";
import { eventually } from "../../support/timing/eventually.ts";

const ECHO: PlaybookTurn[] = [{ say: "I heard {{input}}", repeat: true }];
const resume = script("team/resume-team");

it("resume killed at any step › the next resume leaves one process, one conversation and each message once", async () => {
  const outcomes = new Map<string, number>();
  const steps = await killAtEveryStep(async (n) => {
    const { ref, ctx, place, spawn } = await ledTeam({ dev: ECHO });
    await spawn({ name: "dev", prompt: "before" });
    await answered(ref, ["I heard before"]);
    const session = readStatus(ref, "dev")?.sessionId;
    await kill(ref);
    // An imported member has no place record.
    if (n % 2 === 0) rmSync(ref.paths.agent("dev").place);
    await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "after" });
    return {
      child: resume(JSON.stringify(place.env), ref.team, String(n)),
      check: async () => {
        const background: Promise<unknown>[] = [];
        const [dev] = (await resumeTeam(ctx, { background: (work) => background.push(work) })).members;
        await Promise.all(background);
        count(outcomes, dev);
        await answered(ref, ["I heard before", "I heard after"]);
        expect(readStatus(ref, "dev")?.sessionId, `killed at ${n}`).toBe(session);
        expect(agentsOf(ref, "dev"), `killed at ${n}`).toEqual([readStatus(ref, "dev")?.process.pid]);
        expect(readTeam(ref).members[1]?.metadata?._restart, `killed at ${n}`).toBeUndefined();
      },
    };
  });
  expect(steps).toBeGreaterThan(20);
  expect([...outcomes.keys()].sort()).toEqual(["alive", "restarted"]);
});

function count(outcomes: Map<string, number>, dev: ResumeReport["members"][number] | undefined): void {
  const outcome = dev?.outcome ?? "none";
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
}

async function kill(ref: TeamRef): Promise<void> {
  const pids = [readStatus(ref, "dev")?.process.pid ?? 0, readPlace(ref, "dev")?.panePid ?? 0];
  signalProcess(pids[0] ?? 0, "SIGKILL");
  await eventually("dev's end", () => pids.every((pid) => startTimeOf(pid) === undefined));
}

function answered(ref: TeamRef, answers: readonly string[]): Promise<unknown> {
  return eventually(`dev's answers ${answers.join(", ")}`, () => {
    const status = readStatus(ref, "dev");
    if (status?.state !== "idle" || !existsSync(status.transcript)) return false;
    const lines = readFileSync(status.transcript, "utf8").split("\n").slice(0, -1);
    const texts = lines
      .map((line) => JSON.parse(line))
      .flatMap(({ type, message }) => (type === "assistant" ? [message.content[0]?.text] : []));
    return JSON.stringify(texts) === JSON.stringify(answers);
  });
}
