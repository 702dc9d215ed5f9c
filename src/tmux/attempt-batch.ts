import { type BatchLine, script } from "./command.ts";
import { TmuxError } from "./error.ts";
import { hookAdvice, hooksAfter } from "./hooks.ts";
import type { BatchOptions, TmuxServer } from "./server.ts";

/** The outcome of a batch, complete or not. */
export interface AttemptedBatch {
  readonly lines: readonly string[];
  readonly errors: readonly string[];
  /** Why the batch did not run to its end; its message is also in `errors`. */
  readonly failure?: TmuxError;
  /** Returns a sentence about the user's hooks that ran after its commands; undefined without hooks. */
  advice(): Promise<string | undefined>;
}

/**
 * Runs a batch, and returns what it printed even if it was refused or cut off, for example by a hook that waits.
 * @throws TmuxError if tmux or its server is missing
 */
export async function attemptBatch(
  server: TmuxServer,
  batch: readonly BatchLine[],
  options: BatchOptions = {},
): Promise<AttemptedBatch> {
  const advice = (): Promise<string | undefined> => adviceFor(server, batch);
  try {
    return { ...(await server.batch(batch, options)), advice };
  } catch (error) {
    if (!(error instanceof TmuxError)) throw error;
    if (error.done === "nothing" && error.kind !== "refused") throw error;
    return {
      lines: error.printed,
      errors: [error.message],
      failure: error,
      advice: async () => (error.kind === "refused" ? undefined : error.hint),
    };
  }
}

async function adviceFor(server: TmuxServer, batch: readonly BatchLine[]): Promise<string | undefined> {
  try {
    return hookAdvice(hooksAfter(script(batch), await server.call(["show-hooks", "-g"])));
  } catch {
    // The caller reports its own error; this only adds to its hint.
    return undefined;
  }
}
