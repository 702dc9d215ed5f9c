import { readHook, readLastWords } from "../../team/records/hook-record.ts";
import type { TeamRef } from "../../team/ref.ts";
import { openFileBell } from "../../wakeup/file-bell.ts";

/**
 * Reports each end of a turn that the hooks of a member's program report from now on, with its last words ("" without
 * any). If teams only types to a program, nothing else reports the end of a turn.
 * @param onProblem receives the error of a report that cannot be read; the next report is read again
 * @returns a function that ends the reports
 */
export function followHooks(
  ref: TeamRef,
  name: string,
  onRest: (words: string) => void,
  onProblem: (error: unknown) => void,
): () => void {
  const over = new AbortController();
  const bell = openFileBell(() => ref.paths.agent(name).hook);
  const tryRead = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      onProblem(error);
      return undefined;
    }
  };
  const follow = async (): Promise<void> => {
    let seenAt = tryRead(() => readHook(ref, name))?.at;
    while ((await bell.wait({ signal: over.signal })) !== "aborted") {
      const hook = tryRead(() => readHook(ref, name));
      // A later report has an earlier time if the clock was set back.
      if (hook === undefined || hook.at === seenAt) continue;
      seenAt = hook.at;
      if (hook.event === "resting") onRest(tryRead(() => wordsAt(ref, name, hook.at)) ?? "");
    }
  };
  void follow().finally(() => bell.close());
  return () => over.abort();
}

/** Milliseconds between the two records of one hook. */
const SAME_HOOK_MS = 1_000;

function wordsAt(ref: TeamRef, name: string, at: number): string {
  const last = readLastWords(ref, name).at(-1);
  return last !== undefined && Math.abs(last.at - at) < SAME_HOOK_MS ? last.text : "";
}
