import pytest

from desktop_rag.ingest.read.pdf.legibility import is_legible


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12.5 40 | 300 - 7",
        "Ordinary words of a page, with a name or two and 20 figures.",
        "Chính sách bảo hành và các điều kiện áp dụng đối với khách hàng",
        "日本語のテキストと ABC と カタカナ を混ぜた文章です。これは普通のことです。",
        "メニューの「スタート」⇒「コントロールパネル」⇒「プログラムのアンインストール」人々の",
        "코로나바이러스감염증-19(COVID-19, 이하 “코로나-19”)의 국내 확진자는",
        "وعليه فإن الحكومة المصرية تضع صوب عينيها خلال المرحلة المقبلة R Python",
        "log(N II/H𝛂) = −0.35 + μm Δx αβγδ Ångström ℝ ℓ ﬁnd oﬃce",
        "কিপরাইটঃ এেসা দব্ীন িশিখ পর্কাশনী",
        "GND VCC RST CLK SDA SCL PWM ADC " * 5 + "Pin Name Function Type Ground Power Reset Clock",
        "An issue: a Tf command before every Tj command, with 1 0 obj in the middle of it.",
    ],
)
def test_writing_is_legible(text: str) -> None:
    assert is_legible(text)


@pytest.mark.parametrize(
    "text",
    [
        "\ue001\ue002\ue003\ue004 a",
        "\x01\x02\x03 \x0e\x0f a\x10",
        "ا䆀ឮᑽٱĴǎƶơǎƹŎķຊا࠘᧽䋔ٱ˄Ⱊاور ǎ ǔ Ƽǎ ƹƃơŃ او䆀ឮᑽٱĴǎƶơǎƹŎķ ٳ㶜ຝ䆀䩱ط",
        "ČãþĜåêċâýěäéÈËċâýěäéÈËČãþĜåêãČþĤ",
        "ZKLFK ZRUGV FDQ KDYH WKHLU VKLIWHG " * 5,
        "BT /F1 12 Tf 50 800 Td <0102030405060708090a> Tj ET",
        "<4E6F762073686D6F7A206B6120706F702E>",
        "< 4E6F762073686D6F7A206B6120706F702E >",
        "1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj",
    ],
)
def test_signs_that_nobody_can_read_are_not(text: str) -> None:
    assert not is_legible(text)
