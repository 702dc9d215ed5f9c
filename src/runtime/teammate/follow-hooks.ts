import { readHook, readLastWords } from "../../team/records/hook-record.ts";
import type { TeamRef } from "../../team/ref.ts";
import { openFileBell } from "../../wakeup/file-bell.ts";

/**
 * Reports each end of a turn that the hooks of a member's program report from now on, with its last words ("" without
 * any). If teams only types to a program, nothing else reports the end of a turn.
 * @returns a function that ends the reports
 */
export function followHooks(ref: TeamRef, name: string, onRest: (words: string) => void): () => void {
  const over = new AbortController();
  const bell = openFileBell(() => ref.paths.agent(name).hook);
  const follow = async (): Promise<void> => {
    let seenAt = readHook(ref, name)?.at;
    while (!over.signal.aborted) {
      const hook = readHook(ref, name);
      // A later report has an earlier time if the clock was set back.
      if (hook !== undefined && hook.at !== seenAt) {
        seenAt = hook.at;
        if (hook.event === "resting") onRest(wordsAt(ref, name, hook.at));
      }
      await bell.wait({ signal: over.signal });
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
