import { expect, test } from "vitest";
import type { PermissionAsk } from "../../../../src/agent/turn/permission.ts";
import { listApprovals } from "../../../../src/operations/approvals/approvals.ts";
import { PermissionRequests } from "../../../../src/worker/gates/permission-requests.ts";
import { shutdownRequest } from "../../../support/team/inbox-entries.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { workerContext } from "../../../support/worker/worker-context.ts";

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
  const context = workerContext(ref);
  const requests = new PermissionRequests(context);
  const answer = requests.ask(EDIT, signal);
  context.queue.add(shutdownRequest());
  requests.refuseAll();
  expect(await answer).toEqual({ allowed: false, note: "A shutdown was requested." });
  expect(listApprovals(ref)).toEqual([]);
});
