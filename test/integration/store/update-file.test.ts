import fs, {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { PostedChange } from "../../../src/store/group-commit.ts";
import { updateFile } from "../../../src/store/update-file.ts";
import { failingRemovals } from "../../support/files/failing-removals.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

const SHORT = { waitMs: 60 };

/** Owner records are links that point nowhere. */
const isThere = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

function fileWith(text: string): string {
  const path = join(temporaryDirectory(), "f");
  writeFileSync(path, text);
  return path;
}

/** Appends to the text, and records in `wasLocked` whether the lock was held. */
const appending = (wasLocked: boolean[]) => (text: string | undefined, isLocked: boolean) => {
  wasLocked.push(isLocked);
  return { value: wasLocked.length, content: `${text}+ours` };
};

test("updateFile computes and stages the update while foreign writers find the lock free", async () => {
  const path = fileWith("old");
  const value = await updateFile(path, (text, isLocked) => {
    expect([isLocked, isThere(`${path}.lock`), isThere(`${path}.q`)]).toEqual([false, false, true]);
    return { value: text, content: "new" };
  });
  expect([value, readFileSync(path, "utf8")]).toEqual(["old", "new"]);
  expect(readdirSync(join(path, ".."))).toEqual(["f"]);
});

test("updateFile does not say that the file is unchanged when only the lock of the queue cannot be released", async () => {
  const path = fileWith("old");
  let fails = true;
  failingRemovals((one) => fails && one === `${path}.q`);
  const update = updateFile(path, () => ({ value: "done", content: "new" }));
  await expect(update).rejects.toThrow(`${path} was updated, but its lock could not be released`);
  expect(readFileSync(path, "utf8")).toBe("new");
  fails = false;
  expect(await updateFile(path, (text) => ({ value: text }))).toBe("new");
});

test("updateFile keeps the change of a foreign writer, and updates again under the lock", async () => {
  const path = fileWith("old");
  const wasLocked: boolean[] = [];
  const change = appending(wasLocked);
  await updateFile(path, (text, isLocked) => {
    // A change of the same length, within the same tick of the file system's clock.
    if (!isLocked) writeFileSync(path, "OLD");
    return change(text, isLocked);
  });
  expect([wasLocked, readFileSync(path, "utf8")]).toEqual([[false, true], "OLD+ours"]);
  expect(readdirSync(join(path, ".."))).toEqual(["f"]);
});

test("updateFile updates again when the file was created meanwhile", async () => {
  const path = join(temporaryDirectory(), "f");
  const wasLocked: boolean[] = [];
  const change = appending(wasLocked);
  await updateFile(path, (text, isLocked) => {
    if (!isLocked) writeFileSync(path, "theirs");
    return change(text, isLocked);
  });
  expect([wasLocked, readFileSync(path, "utf8")]).toEqual([[false, true], "theirs+ours"]);
});

test("updateFile retries a failed update under the lock, and throws only then", async () => {
  const path = fileWith('["half');
  const parsed = updateFile(path, (text, isLocked) => {
    if (isLocked) expect(isThere(`${path}.lock`)).toBe(true);
    return { value: JSON.parse(text ?? "") };
  });
  await expect(parsed).rejects.toThrow(SyntaxError);
  const retried = updateFile(path, (text, isLocked) => {
    if (!isLocked) throw new Error("in the middle of a write");
    return { value: text };
  });
  expect(await retried).toBe('["half');
});

test("updateFile takes no shared lock when nothing changes", async () => {
  const path = fileWith("old");
  mkdirSync(`${path}.lock`);
  expect(await updateFile(path, (text) => ({ value: text }), SHORT)).toBe("old");
  rmdirSync(`${path}.lock`);
});

test("updateFile leaves the file as it is, and no other file, when the lock stays held", async () => {
  const path = fileWith("old");
  mkdirSync(`${path}.lock`);
  const change = updateFile(path, () => ({ value: undefined, content: "new" }), SHORT);
  await expect(change).rejects.toMatchObject({ code: "LOCK_TIMEOUT" });
  expect(readFileSync(path, "utf8")).toBe("old");
  expect(readdirSync(join(path, "..")).sort()).toEqual(["f", "f.lock"]);
});

test("updateFile calls `written` before the next process has its turn", async () => {
  const path = fileWith("old");
  const seen: unknown[] = [];
  const written = (): void => {
    seen.push([readFileSync(path, "utf8"), isThere(`${path}.lock`), isThere(`${path}.q`)]);
  };
  await updateFile(path, () => ({ value: undefined, content: "new", written }));
  expect(seen).toEqual([["new", false, true]]);
});

test("updateFile appends to a large file, unless it changed meanwhile: then it updates the whole text", async () => {
  for (const isChanged of [false, true]) {
    const path = fileWith("some old text");
    await updateFile(path, (text) => ({ value: undefined, content: `${text}+whole` }), {
      atEnd: {
        from: 5,
        update: ({ bytes, size }) => {
          expect([`${bytes}`, size]).toEqual(["some old text", 13]);
          // A change of the same length, within the same tick of the file system's clock.
          if (isChanged) writeFileSync(path, "SOME OLD TEXT");
          return { value: undefined, content: { keep: 8, more: "+end" } };
        },
      },
    });
    expect(readFileSync(path, "utf8")).toBe(isChanged ? "SOME OLD TEXT+whole" : "some old+end");
    expect(readdirSync(join(path, ".."))).toEqual(["f"]);
  }
});

test.each([false, true])(
  "updateFile confirms a waiting process's change, although the lock cannot be released (updated under it: %s)",
  async (isUnderLock) => {
    const path = fileWith("old");
    const change = new PostedChange(path);
    change.post("theirs");
    spoilReleaseOf(path);
    let journalled = 0;
    const updated = updateFile(
      path,
      (text, isLocked, waiting) => {
        if (isUnderLock && !isLocked) throw new Error("only under the lock");
        const written = () => {
          journalled += 1;
        };
        return { value: undefined, content: `${text?.length} ours ${waiting}`, written };
      },
      { ...SHORT, offer: { text: () => undefined, accepts: () => true, made: () => undefined } },
    );
    await expect(updated).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
      message: expect.stringContaining("was updated"),
    });
    // Otherwise the waiting process would make its change again.
    expect(change.isMade()).toBe(true);
    expect([readFileSync(path, "utf8"), journalled]).toEqual(["3 ours theirs", 1]);
  },
);

/** Puts a file into the lock directory right before the file is replaced: the directory cannot be removed then. */
function spoilReleaseOf(path: string): void {
  const real = fs.renameSync;
  const patch = (renameSync: typeof real): void => {
    Object.assign(fs, { renameSync });
    syncBuiltinESMExports();
  };
  onTestFinished(() => patch(real));
  patch((from, to) => {
    if (to === path) {
      chmodSync(`${path}.lock`, 0o700);
      writeFileSync(join(`${path}.lock`, "stray"), "");
    }
    real(from, to);
  });
}
