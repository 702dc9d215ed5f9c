import { describe, expect, it } from "vitest";
import { globCovers, globsOverlap } from "../../../src/text/glob-overlap.ts";

describe("globsOverlap", () => {
  it.each([
    ["src/api/**", "src/api/v1.ts"],
    ["src/api", "src/api/v1/users.ts"],
    ["src/v1.2/", "src/v1.2/users.ts"],
    ["src/**/*.ts", "src/a.ts"],
    ["**/*.md", "docs/*"],
    ["**", "x"],
    ["src/{a,b}/**", "src/b/c.ts"],
    ["src/{a,b{1,2}}.ts", "src/b2.ts"],
    ["src/[a-c]*.ts", "src/b*.ts"],
    ["a*c", "*b*"],
    ["**/test/**", "src/**/unit/**"],
    ["a?c", "abc"],
    ["\\*.ts", "*.ts"],
    ["na\u00efve/\u{1f600}", "na\u00efve/?"],
  ])("is true if a path matches %s and %s", (a, b) => {
    expect([globsOverlap(a, b), globsOverlap(b, a)]).toEqual([true, true]);
  });

  it.each([
    ["src/api/**", "src/apix/a.ts"],
    ["src/*.ts", "src/a/b.ts"],
    ["src/a/**", "src/b/**"],
    ["src/a.ts", "**/*.js"],
    ["src/**/*.ts", "src/**/*.js"],
    ["src/{a,b}/**", "src/c/d.ts"],
    ["src/[!a]*.ts", "src/a.ts"],
    ["a?c", "a/c"],
    ["\\*.ts", "a.ts"],
    ["a/**/b.ts", "a/xb.ts"],
    ["[x", "x"],
  ])("is false if no path matches %s and %s", (a, b) => {
    expect([globsOverlap(a, b), globsOverlap(b, a)]).toEqual([false, false]);
  });

  it("ends quickly for patterns with many wildcards, alternatives and braces", () => {
    const stars = "*a".repeat(100);
    expect(globsOverlap(`${stars}x`, `${stars}y`)).toBe(false);
    expect(globsOverlap("{a,b}".repeat(40), "c")).toBe(true);
    expect(globsOverlap(`${"**/".repeat(60)}a`, "b.ts")).toBe(false);
    expect(globsOverlap("{".repeat(300), "b")).toBe(false);
  });
});

describe("globCovers", () => {
  it("takes the path literally, and covers everything below a match", () => {
    expect(globCovers("src/api", "src/api/v1/users.ts")).toBe(true);
    expect(globCovers("src/*.ts", "src/*.ts")).toBe(true);
    expect(globCovers("src/a.ts", "src/*.ts")).toBe(false);
    expect(globCovers("**/*.ts", "a.ts")).toBe(true);
  });
});
