import { lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { changeFile } from "../../../src/store/update-file.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

const SHORT = { waitMs: 60 };

/** Owner records are dangling links. */
const isThere = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

function fileWith(text: string): string {
  const path = join(temporaryDirectory(), "f");
  writeFileSync(path, text);
  return path;
}

/** Returns a change that appends text, and records for each call whether the lock was held. */
const appending = (looks: boolean[]) => (text: string | undefined, isLocked: boolean) => {
  looks.push(isLocked);
  return { value: looks.length, content: `${text}+ours` };
};

test("file update › computes the change while other programs find the lock free", async () => {
  const path = fileWith("old");
  const value = await changeFile(path, (text, isLocked) => {
    expect([isLocked, isThere(`${path}.lock`), isThere(`${path}.q`)]).toEqual([false, false, true]);
    return { value: text, content: "new" };
  });
  expect([value, readFileSync(path, "utf8")]).toEqual(["old", "new"]);
  expect(readdirSync(join(path, ".."))).toEqual(["f"]);
});

test("file update › computes again under the lock if another program wrote meanwhile", async () => {
  const path = fileWith("old");
  const looks: boolean[] = [];
  const change = appending(looks);
  await changeFile(path, (text, isLocked) => {
    // The same length, and within one tick of the file system's clock.
    if (!isLocked) writeFileSync(path, "OLD");
    return change(text, isLocked);
  });
  expect([looks, readFileSync(path, "utf8")]).toEqual([[false, true], "OLD+ours"]);
  expect(readdirSync(join(path, ".."))).toEqual(["f"]);
});

test("file update › notices a file that was created meanwhile", async () => {
  const path = join(temporaryDirectory(), "f");
  const looks: boolean[] = [];
  const change = appending(looks);
  await changeFile(path, (text, isLocked) => {
    if (!isLocked) writeFileSync(path, "theirs");
    return change(text, isLocked);
  });
  expect([looks, readFileSync(path, "utf8")]).toEqual([[false, true], "theirs+ours"]);
});

test("file update › retries a failing change under the lock, and reports only that failure", async () => {
  const path = fileWith('["half');
  const parsed = changeFile(path, (text, isLocked) => {
    if (isLocked) expect(isThere(`${path}.lock`)).toBe(true);
    return { value: JSON.parse(text ?? "") };
  });
  await expect(parsed).rejects.toThrow(SyntaxError);
  const mended = changeFile(path, (text, isLocked) => {
    if (!isLocked) throw new Error("in the middle of a write");
    return { value: text };
  });
  expect(await mended).toBe('["half');
});

test("file update › takes no lock if nothing changes", async () => {
  const path = fileWith("old");
  mkdirSync(`${path}.lock`);
  expect(await changeFile(path, (text) => ({ value: text }), SHORT)).toBe("old");
  rmdirSync(`${path}.lock`);
});

test("file update › leaves the file alone if the lock stays held", async () => {
  const path = fileWith("old");
  mkdirSync(`${path}.lock`);
  const change = changeFile(path, () => ({ value: undefined, content: "new" }), SHORT);
  await expect(change).rejects.toMatchObject({ code: "LOCK_TIMEOUT" });
  expect(readFileSync(path, "utf8")).toBe("old");
  expect(readdirSync(join(path, "..")).sort()).toEqual(["f", "f.lock"]);
});

test("file update › runs the follow-up before the next writer's turn", async () => {
  const path = fileWith("old");
  const seen: unknown[] = [];
  const written = (): void => {
    seen.push([readFileSync(path, "utf8"), isThere(`${path}.lock`), isThere(`${path}.q`)]);
  };
  await changeFile(path, () => ({ value: undefined, content: "new", written }));
  expect(seen).toEqual([["new", false, true]]);
});
