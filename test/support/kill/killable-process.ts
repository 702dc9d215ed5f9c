import { expect } from "vitest";
import type { Script } from "../processes/script-process.ts";
import type { Said } from "./acknowledged-changes.ts";

/** A process of `random-operations` that works, pauses on request, and can be killed at any moment. */
export class Killable {
  readonly #process: Script;
  readonly #heard: Promise<void>;
  #said: Said[] = [];
  #isPaused = false;
  #onPause = (): void => undefined;
  #begun = 0;
  #onBegin = (): void => undefined;

  constructor(process: Script) {
    this.#process = process;
    this.#heard = this.#listen();
    // The caller that waits for this process sees the failure.
    this.#heard.catch(() => undefined);
  }

  async #listen(): Promise<void> {
    for (;;) {
      // Throws when the process has ended and all its output is read.
      const line = await this.#process.line().catch(() => undefined);
      if (line === undefined) return;
      this.#hear(JSON.parse(line));
    }
  }

  #hear(said: Said): void {
    this.#said.push(said);
    if (said.at === "begins") {
      this.#begun += 1;
      this.#onBegin();
    }
    if (said.at !== "paused") return;
    this.#isPaused = true;
    this.#onPause();
  }

  /** Returns the reports since the last call. */
  said(): Said[] {
    const said = this.#said;
    this.#said = [];
    return said;
  }

  go(): void {
    this.#isPaused = false;
    this.#process.say("go");
  }

  /** Resolves when the process pauses between two operations, where it waits for `go`. */
  async paused(): Promise<void> {
    if (this.#isPaused) return;
    await this.#unlessEnded(
      new Promise<void>((resolve) => {
        this.#onPause = resolve;
      }),
    );
  }

  /** Resolves when the process has begun this number of further operations. */
  async begins(count: number): Promise<void> {
    const wanted = this.#begun + count;
    await this.#unlessEnded(
      new Promise<void>((resolve) => {
        this.#onBegin = () => {
          if (this.#begun >= wanted) resolve();
        };
      }),
    );
  }

  async #unlessEnded(event: Promise<void>): Promise<void> {
    const ended = this.#heard.then(async () => {
      throw new Error(`The process ended unexpectedly: ${JSON.stringify(await this.#process.ended())}`);
    });
    await Promise.race([event, ended]);
  }

  async pause(): Promise<void> {
    this.#process.say("pause");
    await this.paused();
  }

  /** Kills the process and reads its remaining reports. */
  async kill(): Promise<void> {
    this.#process.child.kill("SIGKILL");
    expect(await this.#process.ended()).toMatchObject({ signal: "SIGKILL", stderr: "" });
    await this.#heard;
  }
}
