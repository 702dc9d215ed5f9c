import { expect, it } from "vitest";
import { script } from "../../support/processes/script-process.ts";

const start = script("processes/handle-interrupt");
const startUnfinished = script("processes/never-settles");

/** Milliseconds of work between the first interrupt and the next look at signals: more than what counts as one wish. */
const BUSY = { SIGINT: "300", SIGTERM: "1200" };

it.each(["SIGINT", "SIGTERM"] as const)(
  "a second %s ends the program, also when it comes while the first is being acted on",
  async (signal) => {
    const program = start(BUSY[signal]);
    expect(await program.line()).toBe("ready");
    program.child.kill(signal);
    expect(await program.line()).toBe(signal);
    program.child.kill(signal);
    expect(await program.ended()).toMatchObject({ signal });
  },
);

it.each(["SIGHUP", "SIGTERM"] as const)(
  "a second %s right behind it is the same one, told by somebody else",
  async (signal) => {
    const program = start("0");
    expect(await program.line()).toBe("ready");
    program.child.kill(signal);
    expect(await program.line()).toBe(signal);
    program.child.kill(signal);
    // The first answer may be given before the signal is looked at, the second is not.
    for (const question of ["there?", "still there?"]) {
      program.say(question);
      expect(await program.line()).toBe("here");
    }
  },
);

it("a terminal that goes away is no error of the program's, but a hangup, also where no signal tells of it", async () => {
  const program = start("0");
  expect(await program.line()).toBe("ready");
  program.say("gone");
  expect(await program.line()).toBe("SIGHUP");
  expect(await program.line()).toBe("here");
});

it("a command that waits for what nothing can bring has failed, and says so", async () => {
  const program = startUnfinished();
  expect(await program.line()).toBe("begun");
  expect(await program.ended()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("before it was done"),
  });
});
