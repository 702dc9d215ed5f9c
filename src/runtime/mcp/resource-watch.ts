import { messageOf } from "../../errors.ts";
import { moveAfterRename, teamBell } from "../../operations/follow-team.ts";
import { Retries } from "../../operations/supervision/retries.ts";
import { pause } from "../../os/clock.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { TeamResources } from "./resources.ts";

/** Changes of a resource within this many milliseconds are reported as one. */
const TOGETHER_MS = 200;

/** Notices changes of a member's resources, while a client subscribes to them. */
export class ResourceWatch {
  readonly #ref: TeamRef;
  readonly #resources: TeamResources;
  readonly #onProblem: (text: string) => void;
  readonly #checks = new Retries((message) =>
    this.#onProblem(`changes of the team's resources cannot be noticed now: ${message}`),
  );
  readonly #listeners = new Set<(uri: string) => void>();
  #watching: AbortController | undefined;

  constructor(ref: TeamRef, resources: TeamResources, onProblem: (text: string) => void) {
    this.#ref = ref;
    this.#resources = resources;
    this.#onProblem = onProblem;
  }

  /** Calls the listener with the address of each changed resource. @returns a function that ends the calls; idempotent */
  subscribe(listener: (uri: string) => void): () => void {
    // A new function for each call: a caller may subscribe the same function twice.
    const own = (uri: string): void => listener(uri);
    this.#listeners.add(own);
    if (this.#watching === undefined) this.#start();
    return () => {
      this.#listeners.delete(own);
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  close(): void {
    this.#listeners.clear();
    this.#stop();
  }

  #start(): void {
    const watching = new AbortController();
    this.#watching = watching;
    this.#follow(watching.signal).catch((error: unknown) => {
      this.#onProblem(`changes of the team's resources are no longer reported: ${messageOf(error)}`);
      if (this.#watching === watching) this.#watching = undefined;
    });
  }

  #stop(): void {
    this.#watching?.abort();
    this.#watching = undefined;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const open = () => teamBell(this.#ref, this.#resources.otherDirectories());
    let bell = open();
    try {
      // The bell is open before the first check, so that no change is missed.
      let before = this.#versions() ?? new Map<string, string>();
      while ((await bell.wait({ signal })) !== "aborted") {
        if ((await pause(TOGETHER_MS, signal)) === "aborted") return;
        if (moveAfterRename(this.#ref)) {
          bell.close();
          bell = open();
        }
        const now = this.#versions();
        if (now === undefined) continue;
        for (const uri of new Set([...before.keys(), ...now.keys()]))
          if (before.get(uri) !== now.get(uri)) this.#notify(uri);
        before = now;
      }
    } finally {
      bell.close();
    }
  }

  /** Returns undefined if a file cannot be read; the next ring of the bell reads it again. */
  #versions(): ReadonlyMap<string, string> | undefined {
    try {
      const versions = this.#resources.versions();
      this.#checks.succeeded();
      return versions;
    } catch (error) {
      this.#checks.failed(error);
      return undefined;
    }
  }

  #notify(uri: string): void {
    for (const listener of [...this.#listeners]) listener(uri);
  }
}
