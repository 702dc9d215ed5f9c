import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { beforeAll, describe, expect, it } from "vitest";
import { removeTree } from "../../support/files/remove-tree.ts";
import { packPackage } from "../../support/package/installed-package.ts";

let tarball: Uint8Array<ArrayBuffer>;
beforeAll(() => {
  const directory = mkdtempSync(join(tmpdir(), "packed-"));
  try {
    tarball = new Uint8Array(readFileSync(join(directory, packPackage(directory).filename)));
  } finally {
    removeTree(directory);
  }
});

describe("the packed package", () => {
  it("passes publint without an error, a warning or a suggestion", async () => {
    const { messages } = await publint({ pack: { tarball: tarball.buffer }, level: "suggestion" });
    expect(messages).toEqual([]);
  });

  it("has no URL fields while the project has no website", () => {
    const text = createPackageFromTarballData(tarball).readFile("/node_modules/tmux-teams/package.json");
    const fields = Object.keys(JSON.parse(text) as object);
    expect(fields.filter((field) => ["bugs", "homepage", "repository"].includes(field))).toEqual([]);
  });

  it("has the right types in each kind of resolution", async () => {
    const result = await checkPackage(createPackageFromTarballData(tarball));
    const typesIn = (kind: "d.mts" | "d.cts") => ({
      resolution: { fileName: `/node_modules/tmux-teams/dist/index.${kind}`, isTypeScript: true },
    });
    expect(result).toMatchObject({
      types: { kind: "included" },
      entrypoints: {
        ".": { resolutions: { "node16-cjs": typesIn("d.cts"), "node16-esm": typesIn("d.mts") } },
      },
      problems: [],
    });
  });
});
