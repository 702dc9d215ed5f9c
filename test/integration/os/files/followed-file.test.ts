import { appendFileSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { FollowedFile } from "../../../../src/os/files/followed-file.ts";
import { eventually } from "../../../support/timing/eventually.ts";

function followed() {
  const directory = mkdtempSync(join(tmpdir(), "followed-"));
  const path = join(directory, "events");
  writeFileSync(path, "");
  const lines: string[] = [];
  const file = new FollowedFile(path, (line) => lines.push(line));
  onTestFinished(() => {
    file.close();
    rmSync(directory, { recursive: true });
  });
  return { path, lines, file };
}

test("FollowedFile reports each line once it is complete, even if a character arrives in two parts", async () => {
  const { path, lines, file } = followed();
  file.follow();
  const bytes = Buffer.from("one\nä");
  appendFileSync(path, bytes.subarray(0, -1));
  await eventually("the first line", () => lines.length === 1);
  appendFileSync(path, Buffer.concat([bytes.subarray(-1), Buffer.from("\nrest")]));
  await eventually("the second line", () => lines.length === 2);
  expect(lines).toEqual(["one", "ä"]);
});

test("FollowedFile empties a large file that was read, and its writer continues at its own offset", () => {
  const { path, lines, file } = followed();
  const fd = openSync(path, "r+");
  const large = "x".repeat(17 * 1024 * 1024);
  writeSync(fd, `${large}\n`);
  file.empty();
  expect(statSync(path).size).toBeGreaterThan(large.length);
  file.read();
  file.empty();
  expect(statSync(path).size).toBe(0);
  writeSync(fd, "after\n");
  file.read();
  expect(lines.map(({ length }) => length)).toEqual([large.length, 5]);
  expect(statSync(path).blocks * 512).toBeLessThan(large.length);
});

test("FollowedFile reads an emptied file from its start if its writer appends", () => {
  const { path, lines, file } = followed();
  appendFileSync(path, `${"x".repeat(17 * 1024 * 1024)}\n`);
  file.read();
  file.empty();
  for (const line of ["one", "two", "three"]) {
    appendFileSync(path, `${line}\n`);
    file.read();
  }
  expect(lines.slice(1)).toEqual(["one", "two", "three"]);
});
