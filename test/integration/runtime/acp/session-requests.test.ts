import { expect, it } from "vitest";
import type { ApprovalAnswer, ApprovalDetails } from "../../../../src/operations/approvals/approvals.ts";
import { SessionRequests } from "../../../../src/runtime/acp/session-requests.ts";
import { readTeam } from "../../../../src/team/config/config.ts";
import { prepareRun, writeStatus } from "../../../../src/team/records/write-records.ts";
import { deadProcess, statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

/** The answer of a client that does not answer, as the SDK returns it: it rejects when the request is withdrawn. */
function untilWithdrawn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error("Request cancelled")));
  });
}

/** The requests of a team whose teammate `ada` has crashed, to a client that gives these answers. */
async function withCrash(answers: readonly (ApprovalAnswer | typeof untilWithdrawn | undefined)[]) {
  const ref = await testTeam(["ada"]);
  await prepareRun(ref, ["ada"]);
  writeStatus(ref, "ada", statusOf({ state: "running", process: deadProcess() }));
  const offered: ApprovalDetails[] = [];
  const problems: string[] = [];
  const left: boolean[] = [];
  const requests = new SessionRequests({
    ctx: contextOf(ref),
    offer: async (request, signal) => {
      offered.push(request);
      const answer = answers[offered.length - 1];
      return typeof answer === "function" ? answer(signal) : answer;
    },
    onChange: (open, isLeft) => {
      if (open === 0) left.push(isLeft);
    },
    onProblem: (text) => problems.push(text),
  });
  const names = () => readTeam(ref).members.map(({ name }) => name);
  return { ref, requests, offered, problems, left, names };
}

it("SessionRequests › offers a crash, and removes the teammate if the user rejects it", async () => {
  const { requests, offered, problems, names } = await withCrash([{ approve: false }]);
  requests.check();
  await eventually("ada's removal", () => !names().includes("ada"));
  expect(offered).toMatchObject([{ kind: "crash", from: "ada" }]);
  expect(problems).toEqual([]);
});

it("SessionRequests › offers an unanswered request again only after offerAgain", async () => {
  const { requests, offered, left, names } = await withCrash([undefined, { approve: false }]);
  requests.check();
  await eventually("the end of the offer", () => left.length === 1);
  expect(left).toEqual([true]);
  requests.check();
  expect([offered.length, names().includes("ada")]).toEqual([1, true]);
  requests.offerAgain();
  await eventually("ada's removal", () => !names().includes("ada"));
  expect(offered).toHaveLength(2);
});

it("SessionRequests › withdraws a request that is answered elsewhere, without a problem", async () => {
  const { ref, requests, offered, problems, left } = await withCrash([untilWithdrawn]);
  requests.check();
  await eventually("the offer", () => offered.length === 1);
  // Restarted elsewhere.
  writeStatus(ref, "ada", statusOf());
  requests.check();
  await eventually("the end of the offer", () => left.length === 1);
  expect([left, problems]).toEqual([[false], []]);
});
