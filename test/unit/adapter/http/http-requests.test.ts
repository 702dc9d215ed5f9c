import { describe, expect, it } from "vitest";
import { askedPermission, requestOf } from "../../../../src/adapter/http/http-requests.ts";

const CWD = "/srv/repo";

/** A request of OpenCode 1.18.33. */
function asked(permission: string, metadata: object, patterns: readonly string[] = ["*"]) {
  const tool = { messageID: "msg_1", callID: "call_1" };
  const request = askedPermission({ id: "per_1", sessionID: "ses_1", permission, patterns, metadata, tool });
  if (request === undefined) throw new Error("no request");
  return request;
}

describe("requestOf", () => {
  it("reads a command whole, not by its patterns", () => {
    const request = asked("bash", { command: "env; touch x" }, ["env", "touch x"]);
    expect(requestOf(request, {}, CWD)).toMatchObject({
      tool: "Bash",
      access: { kind: "command", command: "env; touch x" },
    });
  });

  it("prefixes a command that runs in another directory with that directory", () => {
    const request = asked("bash", { command: "rm a" });
    const inputs = [{ workdir: "/etc" }, { workdir: "../other" }, { workdir: CWD }, {}];
    expect(inputs.map((input) => requestOf(request, { command: "rm a", ...input }, CWD).summary)).toEqual([
      "cd '/etc' && rm a",
      "cd '../other' && rm a",
      "rm a",
      "rm a",
    ]);
  });

  it("names every file of a change, and the change", () => {
    const input = { filePath: "/srv/repo/n", oldString: "a", newString: "b" };
    expect(requestOf(asked("edit", { filepath: "/srv/repo/n", diff: "-a\n+b" }), input, CWD)).toMatchObject({
      tool: "Edit",
      input: { file_path: "/srv/repo/n", old_string: "a", new_string: "b" },
      access: { kind: "write", paths: ["/srv/repo/n"] },
    });
    const files = [{ filePath: "/srv/repo/a", movePath: "/srv/b" }, { filePath: "/srv/repo/c" }];
    expect(requestOf(asked("edit", { files }), {}, CWD).access).toEqual({
      kind: "write",
      paths: ["/srv/repo/a", "/srv/b", "/srv/repo/c"],
    });
  });

  it("asks for requests that it cannot read: a change of a relative path, an unknown tool, a missing command", () => {
    const files = [{ filePath: "/srv/repo/a" }, { filePath: "relative" }];
    for (const request of [asked("edit", { files }), asked("other_tool", {}), asked("bash", {})])
      expect(requestOf(request, {}, CWD).access).toEqual({ kind: "external" });
  });

  it("reads files, directories and hosts", () => {
    expect(requestOf(asked("read", {}), { filePath: "a" }, CWD).access).toEqual({
      kind: "read",
      paths: ["/srv/repo/a"],
    });
    expect(requestOf(asked("glob", { pattern: "*", path: "/etc" }), {}, CWD).access).toEqual({
      kind: "read",
      paths: ["/etc"],
    });
    expect(requestOf(asked("webfetch", { url: "https://example.com/x" }), {}, CWD).access).toEqual({
      kind: "host",
      host: "example.com",
    });
  });
});
