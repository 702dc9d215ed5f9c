import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { KeyInput } from "../../../src/sidebar/key-input.ts";

test.each([
  ["keys around a paste in pieces", ["j\x1b[200~one\r", "two\x1b[20", "1~k"], ["j", "", "k"], ["one\rtwo"]],
  ["a paste whose mark is cut after its second byte", ["\x1b[", "200~y\x1b[201~"], ["", ""], ["y"]],
  ["the Esc key at once", ["\x1b", "j"], ["\x1b", "j"], []],
  ["a key in pieces", ["\x1b[", "A", "\x1b[2", "~"], ["", "\x1b[A", "", "\x1b[2~"], []],
])("KeyInput › reads %s", (_, pieces, keys, pastes) => {
  const input = new KeyInput(new PassThrough() as unknown as NodeJS.ReadStream);
  const pasted: string[] = [];
  input.pasted = (text) => void pasted.push(text);
  const read = pieces.map((piece) => {
    let text = "";
    input._transform(Buffer.from(piece), "utf8", (_error, part) => {
      text = part;
    });
    return text;
  });
  expect([read, pasted]).toEqual([keys, pastes]);
});
