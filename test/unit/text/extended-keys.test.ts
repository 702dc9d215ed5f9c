import { describe, expect, test } from "vitest";
import { plainKey, withPlainKeys } from "../../../src/text/extended-keys.ts";

const ESC = "\u001b";
const NEWLINE = `${ESC}\r`;

describe("plainKey", () => {
  test.each([
    ["Shift+Enter", "13;2", NEWLINE],
    ["Alt+Enter", "13;3", NEWLINE],
    ["Ctrl+Enter", "13;5", "\r"],
    ["Ctrl+Shift+Enter", "13;6", NEWLINE],
    ["Tab", "9", "\t"],
    ["Shift+Tab", "9;2", `${ESC}[Z`],
    ["Ctrl+Tab", "9;5", "\t"],
    ["Shift+Space", "32;2", " "],
    ["Ctrl+Space", "32;5", ""],
    ["Alt+Space", "32;3", " "],
    ["Backspace", "127", "\u007f"],
    ["Shift+Backspace", "127;2", "\u007f"],
    ["Ctrl+Backspace", "127;5", `${ESC}\u007f`],
    ["Esc", "27", ESC],
    ["Shift+Esc", "27;2", ESC],
    ["a", "97", "a"],
    ["Shift+a", "97;2", "A"],
    ["Shift+A, as xterm reports it", "65;2", "A"],
    ["é with Shift", "233;2", "É"],
    ["ß with Shift", "223;2", "ß"],
    ["Ctrl+C", "99;5", "\u0003"],
    ["Ctrl+Shift+C", "67;6", "\u0003"],
    ["Ctrl+[", "91;5", ESC],
    ["Ctrl+1", "49;5", ""],
    ["Alt+B", "98;3", `${ESC}b`],
    ["Ctrl+Alt+B", "98;7", ""],
    ["Super+a", "97;9", ""],
    ["a with Num Lock", "97;129", "a"],
    ["a with Caps Lock", "97;65", "A"],
  ])("reads %s in both formats", (_name, parameters, plain) => {
    const [code = "", modifiers = "1"] = parameters.split(";");
    expect(plainKey(`${ESC}[${parameters}u`)).toBe(plain);
    expect(plainKey(`${ESC}[27;${modifiers};${code}~`)).toBe(plain);
  });

  test.each([
    ["a key that types another character with Shift", "49:33;2u", "!"],
    ["the text of a key", "97;2;65:66u", "AB"],
    ["Ctrl with a letter of another alphabet, by its position on the keyboard", "1089::99;5u", "\u0003"],
    ["a repeated key", "97;1:2u", "a"],
    ["a released key", "97;1:3u", ""],
    ["a digit of the keypad", "57400u", "1"],
    ["Enter of the keypad with Shift", "57414;2u", NEWLINE],
    ["an arrow of the keypad", "57419u", `${ESC}[A`],
    ["a key without a character", "57358u", ""],
    ["a code that is not a character", "1114112u", ""],
    ["a control character as text", "97;1;10u", ""],
    ["a lone surrogate", "55357u", ""],
    ["Ctrl+Right", "1;5C", `${ESC}[1;5C`],
    ["Ctrl+Shift+Left", "1;6D", `${ESC}[1;5D`],
    ["Shift+Left", "1;2D", `${ESC}[D`],
    ["Shift+Up", "1;2A", `${ESC}[1;2A`],
    ["Ctrl+Up", "1;5A", `${ESC}[A`],
    ["Ctrl+Home", "1;5H", `${ESC}[H`],
    ["Ctrl+Delete", "3;5~", `${ESC}d`],
    ["Shift+Delete", "3;2~", `${ESC}[3~`],
    ["Ctrl+Page Up", "5;5~", `${ESC}[5~`],
    ["Super+Up", "1;10A", ""],
    ["a released arrow", "1;1:3A", ""],
  ])("reads %s", (_name, sequence, plain) => {
    expect(plainKey(`${ESC}[${sequence}`)).toBe(plain);
  });

  test.each([
    ["Enter", "M", "\r"],
    ["*", "j", "*"],
    ["+", "k", "+"],
    [",", "l", ","],
    ["-", "m", "-"],
    [".", "n", "."],
    ["/", "o", "/"],
    ["0", "p", "0"],
    ["9", "y", "9"],
  ])("reads %s of the keypad in application mode", (_name, letter, plain) => {
    expect(plainKey(`${ESC}O${letter}`)).toBe(plain);
  });

  test.each(["[A", "OA", "OP", "[200~", "[?1;2c", "[1;2R", "[<0;1;2M", "[0;1;2;3u"])(
    "returns nothing for %s, which is not an extended key",
    (sequence) => {
      expect(plainKey(`${ESC}${sequence}`)).toBeUndefined();
    },
  );
});

test("withPlainKeys › replaces extended keys in input, and leaves the rest as it is", () => {
  expect(withPlainKeys(`a${ESC}[13;2ub${ESC}[27;2;32~c${ESC}[A${ESC}[<0;1;2M${ESC}`)).toBe(
    `a\nb c${ESC}[A${ESC}[<0;1;2M${ESC}`,
  );
});

test("withPlainKeys › replaces Alt+Enter, and the keypad in application mode", () => {
  expect(withPlainKeys(`a${ESC}\rb${ESC}Oq${ESC}OM${ESC}OA`)).toBe(`a\nb1\r${ESC}OA`);
});

test("withPlainKeys › removes control strings, which are replies of the terminal", () => {
  const color = `${ESC}]11;rgb:0/0/0`;
  expect(withPlainKeys(`a${color}${ESC}\\b${color}\u0007c${ESC}P>|x${ESC}\\d`)).toBe("abcd");
});
