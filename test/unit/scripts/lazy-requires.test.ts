import { expect, test } from "vitest";
import { withLazyRequires } from "../../../scripts/lib/lazy-requires.mjs";

function run(code: string): { readonly loaded: readonly string[]; readonly result: unknown } {
  const loaded: string[] = [];
  const load = (name: string): unknown => {
    loaded.push(name);
    return process.getBuiltinModule(name);
  };
  const result = new Function("require", withLazyRequires(code))(load);
  return { loaded, result };
}

const NET = 'let node_net = require("node:net");\n';

test("withLazyRequires loads a module when one of its names is used", () => {
  expect(run(`${NET}return () => new node_net.Socket();`).loaded).toEqual([]);
  const { loaded, result } = run(`${NET}return new node_net.Socket() instanceof node_net.Stream;`);
  expect({ loaded, result }).toEqual({ loaded: ["node:net"], result: true });
});

test("withLazyRequires keeps modules that every command uses", () => {
  const code = 'let node_fs = require("node:fs");\nreturn () => (0, node_fs.existsSync)("/");';
  expect(withLazyRequires(code)).toBe(code);
});

test("withLazyRequires loads a module immediately if it is passed on as a whole", () => {
  expect(run(`${NET}node_net = Object.assign({}, node_net);\nreturn node_net.isIP("::1");`)).toEqual({
    loaded: ["node:net"],
    result: 6,
  });
});

test("withLazyRequires keeps the first line first", () => {
  expect(withLazyRequires(`#!/usr/bin/env node\n${NET}node_net.isIP("");`)).toMatch(
    /^#!\/usr\/bin\/env node\nconst lazyModules = \{/,
  );
});

test("withLazyRequires loads a named chunk at its first use, and other chunks at once", () => {
  const zod = 'const require_schemas = require("./schemas-a1b2c3d4.cjs");\n';
  const isSchemas = (module: string): boolean => /^[.]\/schemas-[^/]+$/.test(module);
  const lazy = withLazyRequires(`${zod}exports.form = () => require_schemas.teamConfig;`, isSchemas);
  expect(lazy).toContain("exports.form = () => lazyModules.require_schemas.teamConfig;");
  expect(lazy).not.toContain(zod);
  for (const other of [zod.replace("schemas-", "start-"), zod.replace("schemas-", "schemas-more/")])
    expect(withLazyRequires(`${other}require_schemas.name;`, isSchemas)).toContain(other);
});
