import { describe, expect, it } from "vitest";
import { codexRequest, scriptOf } from "../../../../src/adapter/app-server/codex-requests.ts";

const METHOD = "item/commandExecution/requestApproval";

describe("requests of Codex", () => {
  it("scriptOf › returns exactly the script that the shell gets", () => {
    expect(scriptOf("/bin/bash -lc 'touch made'")).toBe("touch made");
    expect(scriptOf(`/bin/zsh -lc 'echo '"'"'a b'"'"''`)).toBe("echo 'a b'");
    expect(scriptOf('bash -c "echo \\"a\\" && ls"')).toBe('echo "a" && ls');
    expect(scriptOf("bash -lc ls")).toBe("ls");
  });

  it("scriptOf › keeps a command whole when it is more than one wrapped script", () => {
    for (const command of [
      "bash -lc 'ls' extra",
      "bash -lc 'ls'; rm -rf x",
      "bash -lc 'ls' && rm x",
      'bash -lc "$X"',
      "bash -lc 'ls",
      "./bash -lc ls",
      "/tmp/bin/bash -lc ls",
      "/srv/repo/zsh -c ls",
      "python -c 'ls'",
      "bash -lc 'ls'\nrm x",
    ])
      expect(scriptOf(command)).toBe(command);
  });

  it("codexRequest › prefixes a command that runs in another directory with that directory", () => {
    const params = { command: "bash -lc 'rm x'", cwd: "/else where" };
    const { access } = codexRequest(METHOD, params, {}, "/repo")?.request ?? {};
    expect(access).toEqual({ kind: "command", command: "cd '/else where' && rm x" });
  });

  it("codexRequest › leaves requests that no rule can judge to the user", () => {
    const kinds = [
      [METHOD, { command: "ls", kind: "writeStdin" }],
      [METHOD, { command: "ls", networkApprovalContext: { host: "h" } }],
      ["item/fileChange/requestApproval", { grantRoot: "/" }],
      ["item/permissions/requestApproval", { permissions: {} }],
    ] as const;
    for (const [method, params] of kinds)
      expect(codexRequest(method, params, {}, "/repo")?.request.access).toEqual({ kind: "external" });
    expect(codexRequest("item/tool/requestUserInput", {}, {}, "/repo")).toBeUndefined();
  });
});
