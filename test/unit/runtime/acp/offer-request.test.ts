import type { AgentContext, RequestPermissionRequest } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import type { ApprovalDetails } from "../../../../src/operations/approvals/approvals.ts";
import { offerRequest } from "../../../../src/runtime/acp/offer-request.ts";
import { openRequest } from "../../../../src/team/requests/requests.ts";
import { testTeam } from "../../../support/team/test-team.ts";

/** Returns what the client gets of a request: the names of its options, and its text. */
async function shownOf(request: Partial<ApprovalDetails> & Pick<ApprovalDetails, "kind">) {
  const ref = await testTeam(["ada"]);
  const own = { id: "r1", from: "ada", summary: "it", at: 1, ...request };
  if (own.kind === "permission") openRequest(ref, { ...own, kind: "permission", payload: { tool: "Bash" } });
  let params: RequestPermissionRequest | undefined;
  const client = {
    request: async (_method: string, given: RequestPermissionRequest) => {
      params = given;
      return { outcome: { outcome: "cancelled" } };
    },
  } as unknown as AgentContext;
  const context = { client, sessionId: "s", ref, cwd: "/repo", hasForms: false };
  await offerRequest(context, own, new AbortController().signal);
  const [content] = params?.toolCall.content ?? [];
  const text = content?.type === "content" && content.content.type === "text" ? content.content.text : "";
  return { names: params?.options.map(({ name }) => name) ?? [], text };
}

const LONG = `npm run ${"x".repeat(300)}; rm -rf build`;

describe("a request to a client", () => {
  it("shows a rule in full if the name of its option is cut", async () => {
    const { names, text } = await shownOf({ kind: "permission", always: [`Bash(${LONG})`] });
    expect(names[1]).toMatch(/^Always allow Bash\(npm run x+…$/);
    expect(text).toBe(`it\n\nalways: Bash(${LONG})`);
    expect((await shownOf({ kind: "permission", always: ["Bash(npm test:*)"] })).text).toBe("it");
  });

  it("shows choices in full, with their invisible characters, if the name of an option cannot", async () => {
    const { names, text } = await shownOf({ kind: "question", choices: ["small", LONG, "hid\u200bden"] });
    expect(names[1]).toMatch(/…$/);
    expect(text).toBe(`it\n\n1  small\n2  ${LONG}\n3  hid\\u200bden`);
    expect((await shownOf({ kind: "question", choices: ["small", "large"] })).text).toBe("it");
  });

  it("shows a long default in full, because agreeing answers with it", async () => {
    expect((await shownOf({ kind: "question", default: LONG })).text).toBe(`it\n\ndefault: ${LONG}`);
    expect((await shownOf({ kind: "question", default: "small" })).text).toBe("it");
  });

  it("shows when a default becomes the answer", async () => {
    const byDefault = { kind: "question", default: "small", deadline: 1 } as const;
    const line = expect.stringMatching(/^it\n\ndefault: small \(becomes the answer at .+\)$/);
    expect((await shownOf(byDefault)).text).toEqual(line);
    expect((await shownOf({ ...byDefault, choices: ["small", "large"] })).text).toEqual(line);
  });

  it("shows the whole input of a call, unless the request has a change", async () => {
    const input = { command: "ls", dangerouslyDisableSandbox: true };
    const { text } = await shownOf({ kind: "permission", input });
    expect(text).toContain('"dangerouslyDisableSandbox": true');
    const changed = await shownOf({ kind: "permission", input, change: ["+a", "-b"] });
    expect(changed.text).toBe("it\n\n+a\n-b");
  });
});
