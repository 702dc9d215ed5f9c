import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { changeTogether } from "../../../src/store/change-together.ts";
import { updateFile } from "../../../src/store/update-file.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

/** Creates a file with a list of words, which is changed under its lock. */
function list() {
  const path = join(temporaryDirectory(), "f");
  writeFileSync(path, "start");
  const writes: string[] = [];
  const change = (make: (words: string) => string | undefined): Promise<string> =>
    changeTogether<string>(path, make, (changes) =>
      updateFile(path, (text = "", isLocked) => {
        const content = changes(text, isLocked);
        return { value: content ?? text, content, written: () => void writes.push(content ?? text) };
      }),
    );
  const add = (word: string) => change((words) => `${words} ${word}`);
  return { path, writes, change, add };
}

test("changes › that wait for one file are written together, each on top of the earlier ones", async () => {
  const { writes, add } = list();
  await Promise.all(["a", "b", "c"].map(add));
  expect(writes).toEqual(["start a b c"]);
});

test("changes › are not affected by the error of another change", async () => {
  const { writes, add, change } = list();
  const refuse = change((words) => {
    throw new Error(`no change of ${words}`);
  });
  const results = await Promise.allSettled([add("a"), refuse, add("b"), change(() => undefined)]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
  expect(results[1]).toMatchObject({ reason: { message: "no change of start" } });
  expect(writes).toEqual(["start a b"]);
});

test("a change › that comes during a write is written after it", async () => {
  const { writes, add, change } = list();
  let late: Promise<string> | undefined;
  await change((words) => {
    late ??= add("late");
    return `${words} first`;
  });
  expect(await late).toBe("start first late");
  expect(writes).toEqual(["start first", "start first late"]);
});

test("changes › all fail with the error of their write, and the next change is written again", async () => {
  const path = join(temporaryDirectory(), "f");
  const full = () => Promise.reject(new Error("disk full"));
  const both = [1, 2].map(() => changeTogether<string>(path, () => "x", full));
  const results = await Promise.allSettled(both);
  expect(results.map((result) => result.status === "rejected" && result.reason.message)).toEqual([
    "disk full",
    "disk full",
  ]);
  expect(
    await changeTogether<string>(
      path,
      () => "x",
      async (changes) => changes("", true) ?? "",
    ),
  ).toBe("x");
});
