import { describe, expect, test } from "vitest";
import { shortPath } from "../../../src/text/short-path.ts";

describe("shortPath", () => {
  const cwd = "/home/dev/project";
  const deep = `${cwd}/packages/server/src/modules/clock/clock.ts`;

  test.each<[string, string, number, string]>([
    ["is relative to the working directory", `${cwd}/src/clock.ts`, 60, "src/clock.ts"],
    ["keeps a path outside the directory", "/home/dev/project-2/a.ts", 60, "/home/dev/project-2/a.ts"],
    ["keeps a path that leaves the directory", `${cwd}/../other/a.ts`, 60, `${cwd}/../other/a.ts`],
    ["keeps a path in the home directory", "~/a.ts", 60, "~/a.ts"],
    ["names the working directory", cwd, 60, "."],
    ["is whole if there is room", deep, 42, "packages/server/src/modules/clock/clock.ts"],
    ["leaves out whole directories in the middle", deep, 34, "packages/server/…/clock/clock.ts"],
    ["keeps the parent directory as long as possible", deep, 16, "…/clock/clock.ts"],
    ["never cuts the file's name", deep, 5, "clock.ts"],
    ["escapes hidden characters", "/a\x1b[2Jb/c\u202ed\ne", 60, "/a\\u001b[2Jb/c\\u202ed\\u000ae"],
    ["counts cells", `${cwd}/日本語のディレクトリ/日本語/ファイル.ts`, 26, "…/日本語/ファイル.ts"],
  ])("%s", (_does, path, width, shown) => {
    expect(shortPath(path, cwd, width)).toBe(shown);
  });

  test("keeps the path if the working directory is unknown", () => {
    expect(shortPath("/a/b.ts", undefined, 20)).toBe("/a/b.ts");
    expect(shortPath("/a/b.ts", "", 20)).toBe("/a/b.ts");
  });
});
