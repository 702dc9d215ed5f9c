import { expect } from "vitest";
import type { Script } from "../processes/script-process.ts";
import type { Said } from "./acknowledged-changes.ts";

/** A process of `random-operations` that works and pauses at a word, and may be killed at any moment. */
export class Killable {
  readonly #process: Script;
  readonly #heard: Promise<void>;
  #said: Said[] = [];
  #isPaused = false;
  #onPause = (): void => undefined;

  constructor(process: Script) {
    this.#process = process;
    this.#heard = this.#listen();
    // Whoever waits for this process sees the failure there.
    this.#heard.catch(() => undefined);
  }

  async #listen(): Promise<void> {
    for (;;) {
      // It throws when the process has ended and has no more to say.
      const line = await this.#process.line().catch(() => undefined);
      if (line === undefined) return;
      this.#hear(JSON.parse(line));
    }
  }

  #hear(said: Said): void {
    this.#said.push(said);
    if (said.at !== "paused") return;
    this.#isPaused = true;
    this.#onPause();
  }

  /** What it has said since this was asked last. */
  said(): Said[] {
    const said = this.#said;
    this.#said = [];
    return said;
  }

  go(): void {
    this.#isPaused = false;
    this.#process.say("go");
  }

  /** When it stands between two operations, and goes on at a word only. */
  async paused(): Promise<void> {
    if (this.#isPaused) return;
    const paused = new Promise<void>((resolve) => {
      this.#onPause = resolve;
    });
    const ended = this.#heard.then(async () => {
      throw new Error(`It ended by itself: ${JSON.stringify(await this.#process.ended())}`);
    });
    await Promise.race([paused, ended]);
  }

  async pause(): Promise<void> {
    this.#process.say("pause");
    await this.paused();
  }

  /** Ends it, and hears it out. */
  async kill(): Promise<void> {
    this.#process.child.kill("SIGKILL");
    expect(await this.#process.ended()).toMatchObject({ signal: "SIGKILL", stderr: "" });
    await this.#heard;
  }
}
