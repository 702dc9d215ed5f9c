import { expect, test } from "vitest";
import { rolesOf } from "../../../../src/agent/permissions/files/word-roles.ts";
import { NO_PARTS } from "../../../../src/agent/permissions/syntax/parts.ts";

const PLAIN = { ...NO_PARTS, functions: new Set<string>(), builtins: new Set<string>() };

test.each([
  ["source a/b c", "source _ c", "a/b"],
  ["bash a/b c", "bash _ c", "a/b"],
  ["bash -x a/b", "bash -x a/b", ""],
  ["python3 -m a b", "python3 -m a b", ""],
  ["ed a", "ed a", ""],
  ["timeout 5 bin/a b", "timeout 5 a b", "bin/a"],
  ["env A=b bin/a", "env A=b a", "bin/a"],
  ["env -C b a", "env -C b a", ""],
  ["kubectl --kubeconfig a get b", "kubectl --kubeconfig _ get b", "a"],
  ["kubectl cp a -c --kubeconfig b", "kubectl cp a -c --kubeconfig b", ""],
  ["ssh -i a b", "ssh -i _ b", "a"],
  ["scp -- -i a", "scp -- -i a", ""],
  ["nice ssh -i a b", "nice ssh -i _ b", "ssh a"],
])("rolesOf › finds the files that a command only reads: %s", (line, own, reads) => {
  const roles = rolesOf(line.split(" "), PLAIN);
  expect([roles.own.join(" "), roles.reads.join(" ")]).toEqual([own, reads]);
});

test("rolesOf › separates values of variables, unless a builtin may be another command", () => {
  const words = ["export", "-p", "A=b", "C"];
  expect(rolesOf(words, PLAIN)).toMatchObject({ own: ["export", "-p", "C"], values: ["A=b"] });
  for (const builtins of [undefined, new Set(["export"])])
    expect(rolesOf(words, { ...PLAIN, builtins })).toEqual({ own: words, values: [], reads: [] });
  expect(rolesOf(words, { ...PLAIN, functions: undefined }).values).toEqual(["A=b"]);
});
