import { expect, test } from "vitest";
import type { PermissionAsk } from "../../../../src/agent/turn/permission.ts";
import { listApprovals } from "../../../../src/operations/approvals/approvals.ts";
import { systemClock } from "../../../../src/os/clock.ts";
import { ManualBell } from "../../../../src/wakeup/bell.ts";
import { createWorkerContext } from "../../../../src/worker/context.ts";
import { PermissionRequests } from "../../../../src/worker/gates/permission-requests.ts";
import { createStatusKeeper } from "../../../../src/worker/status-record.ts";
import { shutdownRequest } from "../../../support/team/inbox-entries.ts";
import { statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { NO_VIEW } from "../../../support/worker/empty-view.ts";

/** A call whose change is computed before the request opens. */
const EDIT: PermissionAsk = {
  tool: "Edit",
  toolUseId: "t1",
  summary: "/a.txt",
  input: { file_path: "/a.txt", old_string: "a", new_string: "b" },
  access: { kind: "write", paths: ["/a.txt"] },
  reason: "No rule allows it.",
  guarded: false,
  rules: ["Edit"],
  decideAgain: () => ({ behavior: "ask", reason: "No rule allows it." }),
};

test("PermissionRequests.ask › refuses when a shutdown request arrives before the request is open", async () => {
  const ref = await testTeam(["dev"]);
  const { signal } = new AbortController();
  const { sessionId, transcript, process: own } = statusOf();
  const facts = { sessionId, transcript, process: own };
  const status = createStatusKeeper(ref, "dev", facts, undefined, systemClock);
  const context = createWorkerContext(
    {
      ref,
      name: "dev",
      role: "teammate",
      initialMode: "default",
      modeAfterPlan: "default",
      planFile: "/dev/null",
      transcript,
      bell: new ManualBell(() => undefined),
      status,
      view: NO_VIEW,
      clock: systemClock,
      signal,
    },
    () => Promise.reject(new Error("no agent")),
  );
  const requests = new PermissionRequests(context);
  const answer = requests.ask(EDIT, signal);
  context.queue.add(shutdownRequest());
  requests.refuseAll();
  expect(await answer).toEqual({ allowed: false, note: "A shutdown was requested." });
  expect(listApprovals(ref)).toEqual([]);
});
