import { expect, it } from "vitest";
import type { Backend } from "../../../src/backend/backend.ts";
import { ownIdentity } from "../../../src/os/process/identity.ts";
import { writePlace } from "../../../src/team/records/read-records.ts";
import { writeStatus } from "../../../src/team/records/write-records.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { openRequest } from "../../../src/team/requests/requests.ts";
import { createTask } from "../../../src/team/tasks/tasks.ts";
import type { ClientTool, ClientToolContext } from "../../../src/team-tools/mcp/client-tool.ts";
import { listRequests } from "../../../src/team-tools/mcp/list-requests.ts";
import { teamStatus } from "../../../src/team-tools/mcp/team-status.ts";
import { wait } from "../../../src/team-tools/mcp/wait.ts";
import { cliIn } from "../../support/processes/in-process-cli.ts";
import { reconcileContext } from "../../support/team/reconcile-context.ts";
import { statusOf } from "../../support/team/status-records.ts";
import { testTeam } from "../../support/team/test-team.ts";
import { contextOf } from "../../support/worker/start-worker.ts";

const ID = "perm-1-abcdefg";

it.each<[string, ClientTool, object]>([
  ["Wait", wait, { for: ["request"], timeout_seconds: 0 }],
  ["ListRequests", listRequests, {}],
  ["ListRequests", listRequests, { request_id: ID }],
  ["TeamStatus", teamStatus, {}],
])("knownRequests › does not get the request of a cancelled %s call", async (_, tool, input) => {
  const cli = cliIn();
  await cli(["create", "crew"]);
  const ref = teamRef(teamsHome(cli.env), "crew");
  const payload = { tool: "Bash", input: { command: "ls" } };
  openRequest(ref, { id: ID, kind: "permission", from: "ada", summary: "ls", at: 1, payload });
  const stop = new AbortController();
  const waiting = async (): Promise<number> => {
    stop.abort();
    return 0;
  };
  const context = {
    ctx: contextOf(ref),
    role: "teammate",
    withoutInbox: false,
    knownRequests: new Set(),
    mail: { waiting },
  } as unknown as ClientToolContext;
  const call = (one: ClientTool, given: object, signal: AbortSignal) =>
    one(context).execute(given, { signal, client: "a", progress: () => undefined });
  // The last step of Wait counts the messages; the other tools have no step that the test can see.
  if (tool !== wait) stop.abort();
  await expect(call(tool, input, stop.signal)).rejects.toThrow();
  const { data } = await call(wait, { for: ["request"], timeout_seconds: 0 }, new AbortController().signal);
  expect(data).toMatchObject({ happened: ["request"], requests: [ID] });
});

it("Wait › counts the task that a member creates just before it is found idle", async () => {
  const ref = await testTeam(["ada", "ben"]);
  const process = ownIdentity();
  writePlace(ref, "ada", { instance: "i", backend: "tmux", panePid: process.pid, spawnedAt: 1 });
  writeStatus(ref, "ada", statusOf({ instance: "i", state: "idle" }));
  const own = reconcileContext(ref);
  const present = async (): Promise<ReadonlySet<string>> => {
    await createTask(ref, { subject: "late" });
    return new Set(["i"]);
  };
  const backend = { ...own.backends.of("tmux"), present } as unknown as Backend;
  const ctx = { ...own, actor: "ben", backends: { ...own.backends, of: () => backend } };
  const mail = { waiting: async () => 0 };
  const context = { ctx, role: "teammate", withoutInbox: false, knownRequests: new Set(), mail };
  const given = { for: ["idle", "all_tasks_done"], timeout_seconds: 0 };
  const call = { signal: new AbortController().signal, client: "a", progress: () => undefined };
  const { data } = await wait(context as unknown as ClientToolContext).execute(given, call);
  expect(data).toMatchObject({ happened: ["idle"] });
});
