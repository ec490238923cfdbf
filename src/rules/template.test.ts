/** Templates: what they expand to, and what is refused. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { TemplateError } from './sprintf.ts';
import { checkTemplate, compileTemplate } from './template.ts';

const sample = { labels: { job: 'api', 'k8s.pod': 'a-1', at: 'host:9100' }, value: 1234567.5 };

/** Texts as Prometheus expands them. */
const expansions: readonly (readonly [template: string, text: string])[] = [
  ['plain } and { text', 'plain } and { text'],
  ['{{ $labels.job }} {{.Labels.job}} [{{ $labels.missing }}]', 'api api []'],
  ['{{ index $labels "k8s.pod" }}', 'a-1'],
  ['{{ $value }}', '1.2345675e+06'],
  ['{{ $value | humanize }}', '1.235M'],
  ['{{ humanize1024 $value }}', '1.177Mi'],
  ['{{ 3661 | humanizeDuration }}', '1h 1m 1s'],
  ['{{ 0.5 | humanizeDuration }}', '500ms'],
  ['{{ 0.1234 | humanizePercentage }}', '12.34%'],
  ['{{ printf "%.2f of %s" $value $labels.job }}', '1234567.50 of api'],
  ['{{ $value | printf "%5.1f%%" }}', '1234567.5%'],
  ['{{ $labels.job | toUpper | printf "%q" }}', '"API"'],
  ['{{ $labels.at | stripPort | title }}', 'Host'],
  ['{{ printf "%s" (toUpper $labels.job) }}', 'API'],
  ['a {{- " b " -}} c', 'a b c'],
  ['{{/* a comment */}}x', 'x'],
  ['{{ `raw "text"` }}', 'raw "text"'],
  ['{{ 1435065584.128 | humanizeTimestamp }}', '2015-06-23 13:19:44.128 +0000 UTC'],
  ['{{ 1435065584.5 | humanizeTimestamp }}', '2015-06-23 13:19:44.5 +0000 UTC'],
  ['{{ 1435065584 | humanizeTimestamp }}', '2015-06-23 13:19:44 +0000 UTC'],
  [
    '{{ stripPort "[::1]:80" }} {{ stripPort "[::1]" }} {{ stripPort "::1:80" }}',
    '::1 [::1] ::1:80',
  ],
  ['{{ printf "%.2s" "a\u{1f600}b" }}', 'a\u{1f600}'],
  ['{{ printf "%08.3f|%+06.1f|%08.3f" -1.5 2.5 $value }}', '-001.500|+002.5|1234567.500'],
  // Half is rounded to even digits.
  ['{{ printf "%.0f %.0f %.0f %.2f" 0.5 1.5 -2.5 0.125 }}', '0 2 -2 0.12'],
  ['{{ printf "%.1e %.2g %.1f" 2.5 0.125 0.35 }}', '2.5e+00 0.12 0.3'],
  [
    '{{ 100.25 | humanize }} {{ 1088 | humanize1024 }} {{ 1.0625 | humanize }}',
    '100.2 1.062ki 1.062',
  ],
  ['{{ 0.1 | humanizePercentage }} {{ 1.0625 | humanizePercentage }}', '10% 106.2%'],
  ['{{ printf "%.2f" 1e21 }}', '1000000000000000000000.00'],
  ['{{ printf "%.3v %.2v" $value $labels.job }}', '1.23e+06 ap'],
  ['{{ "+Inf" | humanize }} {{ "1e3" | humanize }}', '+Inf 1k'],
  ['{{ printf "%.2f %d" $labels.job $labels.missing }}', '%!f(string=ap) %!d(string=)'],
  ['{{ $value | printf "%d" }}', '%!d(float64=1.2345675e+06)'],
  [
    '{{ printf "%d|%5d|%+d|%s|%q|%t" $value 3.5 3.5 $value 1.5 $value }}',
    '%!d(float64=1.2345675e+06)|%!d(float64=  3.5)|%!d(float64=+3.5)|' +
      '%!s(float64=1.2345675e+06)|%!q(float64=1.5)|%!t(float64=1.2345675e+06)',
  ],
  ['{{ printf "%f|%s|%o|%b|%x" 3 3 8 5 -255 }}', '%!f(int=3)|%!s(int=3)|10|101|-ff'],
  [
    '{{ printf "%d" 1 2.5 "x" }} {{ printf "%d" }}',
    '1%!(EXTRA float64=2.5, string=x) %!d(MISSING)',
  ],
  [
    '{{ printf "50%%" }} {{ printf "50%" }} {{ printf "%[3]d" "a" }}',
    '50% 50%!(NOVERB) %!d(BADINDEX)',
  ],
  ['{{ printf "%05s|%05d|%.f|%-8.2f|" "a1" 42 2.5 1.5 }}', '000a1|00042|2|1.50    |'],
  [
    '{{ 007.5 }} {{ 017 }} {{ .5 }} {{ 5. }} {{ 0x1F }} {{ 0b11 }} {{ -0o17 }} {{ +08.5E1 }}',
    '7.5 15 0.5 5 31 3 -15 85',
  ],
  ['{{ 00 }} {{ -0 }}', '0 0'],
  ['at {{ $labels.job | humanize }}', '<error expanding template: cannot read "api" as a number>'],
  [
    '{{ $labels.missing | humanizeTimestamp }}',
    '<error expanding template: cannot read "" as a number>',
  ],
  ['{{ "0x10" | humanize }}', '<error expanding template: cannot read "0x10" as a number>'],
  ['{{ humanize "1e400" }}', '<error expanding template: cannot read "1e400" as a number>'],
  ['{{ "-0" | humanize }} {{ -0.0 | humanizeDuration }} {{ printf "%.1f" -0.0 }}', '-0 -0s -0.0'],
  ['{{ 1e11 | humanizeTimestamp }}', '<error expanding template: cannot show 1e+11 as a time>'],
  // Integers are those of Go.
  ['{{ 1000000 }} {{ 1000000.0 }} {{ printf "%v %d" 12345678 -3 }}', '1000000 1e+06 12345678 -3'],
  ['{{ 1234567 | humanize }} {{ printf "%[2]s %[1]s" "a" "b" }}', '1.235M b a'],
  ['{{ printf "%G %E %X" "+Inf" "abc" "Jo" }}', '%!G(string=+Inf) %!E(string=abc) 4A6F'],
  ['{{ printf "%.3G %E %X %x" $value 1.5 255 "ab" }}', '1.23E+06 1.500000E+00 FF 6162'],
  ['{{ printf "%+v % d %+s" 1 2 $labels.missing }}', '1  2 '],
  [`{{ title "foo_bar a.b x-y o'neil 3abc" }}`, "Foo_bar A.b X-Y O'neil 3Abc"],
  ['a{{/* {{ x }} */}}b {{- /* c */ -}} d', 'abd'],
  // As Go 1.26 prints them.
  [
    '{{ printf "%c|%q|%+q|%U|%O|%.3d|%6.3d|%05c|%08O" 128512 39 128512 128512 -8 7 -7 65 8 }}',
    String.raw`😀|'\''|'\U0001f600'|U+1F600|-0o10|007|  -007|0000A|0o00000010`,
  ],
  ['{{ printf "%T %T %T|%.0d|% X" 1 1.5 "a" 0 "ab" }}', 'int float64 string||61 62'],
  ['{{ printf "%+s|% v|%+d" 3 3 1.5 }}', '%!s(int=+3)| 3|%!d(float64=+1.5)'],
  [String.raw`{{ printf "%q %q" "a\u0000\u200b😀" 10 }}`, String.raw`"a\x00\u200b😀" '\n'`],
  // Refused when the rule is saved.
  [
    '{{ printf "%x" $value }}',
    '<error expanding template: printf cannot show "%x": ' +
      'there is no flag #, no width *, and no %b, %x and %X of floats>',
  ],
  ['{{ $labels }}', 'map[at:host:9100 job:api k8s.pod:a-1]'],
];

const faults: readonly (readonly [template: string, fault: RegExp])[] = [
  ['{{/* a */ $value }} keep {{/* b */}}', /is not closed/],
  // Read once: each of its comments would be looked for to the end.
  ['{{/* }}'.repeat(150_000), /is not closed/],
  ['{{ $labels.job', /is not closed/],
  ['{{ "} {{ $value }}', /is not closed/],
  // In quadratic time this would not end.
  ['{{ '.repeat(300_000), /is not closed/],
  ['{{ }}', /missing/],
  ['{{ if $value }}x{{ end }}', /cannot use "if"/],
  ['{{ query "up" }}', /cannot use "query"/],
  ['{{ $value | $labels.job }}', /is no function/],
  ['{{ (1 }}', /not closed/],
  ['{{ toUpper "a" "b" }}', /toUpper needs 1 arguments, not 2/],
  ['{{ 1 | humanize 2 }}', /humanize needs 1 arguments, not 2/],
  ['{{ 09 }}', /cannot read the number 09/],
  ['{{ 1e999 }}', /cannot read the number 1e999/],
  ['{{ 0x }}', /cannot read "0x"/],
  [`{{ ${'1'.repeat(300_000)}x }}`, /cannot read/],
  ['{{ printf "%x" $value }}', /printf cannot show "%x"/],
  ['{{ humanize $labels.size }} {{ printf "%x" $value }}', /printf cannot show "%x"/],
  ['{{ $value | printf "%.1b" }}', /printf cannot show "%.1b"/],
  ['{{ printf "%#x" 255 }}', /printf cannot show "%#x"/],
  ['{{ printf "%*d" 5 1 }}', /printf cannot show "%\*"/],
  ['{{ toUpper }}', /toUpper needs 1 arguments, not 0/],
  ['{{ $value ] }}', /cannot read/],
];

suite('templates', () => {
  for (const [template, text] of expansions) {
    test(`expands ${template}`, () => assert.equal(compileTemplate(template)(sample), text));
  }
  for (const [template, fault] of faults) {
    test(`refuses ${template.slice(0, 40)}`, () => {
      assert.throws(
        () => checkTemplate(template),
        (error) => error instanceof TemplateError && fault.test(error.message),
      );
    });
  }
});
