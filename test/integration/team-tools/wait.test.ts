import { expect, it } from "vitest";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { openRequest } from "../../../src/team/requests/requests.ts";
import type { ClientTool, ClientToolContext } from "../../../src/team-tools/mcp/client-tool.ts";
import { listRequests } from "../../../src/team-tools/mcp/list-requests.ts";
import { teamStatus } from "../../../src/team-tools/mcp/team-status.ts";
import { wait } from "../../../src/team-tools/mcp/wait.ts";
import { cliIn } from "../../support/processes/in-process-cli.ts";
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
