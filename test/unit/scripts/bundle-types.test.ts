import { describe, expect, it } from "vitest";
import { bundleTypes } from "../../../scripts/lib/bundle-types.mjs";
import { importsFrom } from "../../../scripts/lib/packages-apart.mjs";

const FILES: Readonly<Record<string, string>> = {
  "index.d.ts": `/** The library. */
export { TeamError } from "./errors.js";
export type {
    Task,
} from "./values.js";
`,
  "errors.d.ts": `/** Exit statuses. */
export declare const EXIT: {
    readonly done: 0;
};
interface Options {
    readonly hint?: string;
}
/** The error. */
export declare class TeamError extends Error {
    /**
     * export interface Wrong of a comment
     */
    constructor(options?: Options);
}
export declare function isSystemError(error: unknown): error is NodeJS.ErrnoException;
export {};
`,
  "values.d.ts": `import type { Facts } from "./event.js";
export type Task = Facts & {
    readonly id: string;
};
`,
  "event.d.ts": `import * as z from "zod/mini";
export declare const teamEvent: z.Loose;
export type Facts =
/** Began. */
{
    readonly at: number;
}
/** Ended. */
 | {
    readonly how: string;
};
/** Not needed. */
export type Other = string;
`,
};

const bundle = (files: Readonly<Record<string, string>>): string =>
  bundleTypes(
    "index.d.ts",
    (path) => files[path] ?? "",
    (_, specifier) => specifier.replace("./", "").replace(".js", ".d.ts"),
  );

describe("bundleTypes", () => {
  it("keeps the declarations that the exports need, with their comments, and exports nothing else", () => {
    expect(bundle(FILES)).toBe(`/** The error. */
export declare class TeamError extends Error {
    /**
     * export interface Wrong of a comment
     */
    constructor(options?: Options);
}

interface Options {
    readonly hint?: string;
}

export type Task = Facts & {
    readonly id: string;
};

type Facts =
/** Began. */
{
    readonly at: number;
}
/** Ended. */
 | {
    readonly how: string;
};

export {};
`);
  });

  it("refuses a type of a package", () => {
    const files = { ...FILES, "values.d.ts": 'import type { T } from "zod";\nexport type Task = T;\n' };
    expect(() => bundle(files)).toThrow("values.d.ts needs types of the package zod.");
  });

  it("refuses two declarations of one name", () => {
    const files = {
      ...FILES,
      "values.d.ts": `import type { Facts } from "./event.js";\ninterface Options {\n    facts: Facts;\n}\nexport type Task = Options;\n`,
    };
    expect(() => bundle(files)).toThrow("Options is declared in errors.d.ts and in values.d.ts.");
  });
});

describe("importsFrom", () => {
  it("imports a package from its file, relative to the chunk", () => {
    const { renderChunk } = importsFrom({ sdk: "packages/sdk-1.mjs" });
    const code = 'const a = await import("sdk"), b = import("sdk/stdio");';
    expect(renderChunk(code, { fileName: "chunks/a.cjs" }).code).toBe(
      'const a = await import("../packages/sdk-1.mjs"), b = import("sdk/stdio");',
    );
    expect(renderChunk(code, { fileName: "a.cjs" }).code).toContain('import("./packages/sdk-1.mjs")');
  });
});
