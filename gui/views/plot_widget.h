// One plot with the behaviour that all plots share: wheel zooms at the cursor, drag pans, Shift-drag zooms to a box,
// double click fits, Backspace goes back; the dashed step cursor is linked through Selection; a click pins it.
// Data comes in as Series; thinning, gaps and log2 happen here.
#pragma once

#include "models/plot_series.h"
#include "views/plot_group.h"
#include "views/plot_style.h"

#include <qcustomplot.h>

#include <QElapsedTimer>
#include <QString>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

class QLabel;
class QPushButton;

namespace gui {

class Selection;
class PlotOverlay;
class PlotDecoration;

struct LineLook {
    QString name;  // legend, read-out and CSV header
    QPen pen;      // 1 px
    QCPScatterStyle scatter{QCPScatterStyle::ssNone};
    bool joined = true;  // false: dots only
    bool inReadout = true;
    bool inLegend = true;
    bool inFit = true;  // counts when the axes are fitted
};

/// A small triangle on the step axis.
struct StepMark {
    double step = 0;
    QColor color;
    QString text;
};

struct ReadoutRow {
    QColor color;  // invalid: no swatch
    QString name;
    QString value;
};

class PlotWidget : public QCustomPlot {
    Q_OBJECT
public:
    enum class YScale { Linear, Log2 };

    /// With a selection the x axis is the training step and has the linked cursor; without, it is free.
    explicit PlotWidget(Selection* selection, QWidget* parent = nullptr);
    ~PlotWidget() override;

    // What is drawn. Values are raw: a Log2 plot takes 0 and inf and marks them at its edges.
    int addLine(const LineLook& look);
    void setLook(int line, const LineLook& look);
    void setData(int line, Series series);
    const Series& data(int line) const { return m_lines[static_cast<std::size_t>(line)].raw; }
    const LineLook& look(int line) const { return m_lines[static_cast<std::size_t>(line)].look; }
    void clearLines();
    int lineCount() const { return static_cast<int>(m_lines.size()); }
    std::size_t pointCount() const;
    void setMarks(std::vector<StepMark> marks);
    const std::vector<StepMark>& marks() const { return m_marks; }

    void setYScale(YScale scale);
    YScale yScale() const { return m_yScale; }
    void setIncludeZero(bool on) { m_includeZero = on; }
    void setYPad(double share) { m_yPad = share; }  // room above and below the data
    void setCaption(const QString& caption);
    const QString& caption() const { return m_caption; }
    void setLegendVisible(bool on) { m_legendVisible = on; }
    bool legendVisible() const { return m_legendVisible; }
    void setLeftMargin(int pixels);
    /// Axes that the wheel zooms; Ctrl+wheel always zooms y.
    void setWheelAxes(Qt::Orientations axes) { m_wheelAxes = axes; }

    // What views add: more room, more read-out rows, other data for CSV.
    void setExtraLimits(std::function<Limits()> x, std::function<Limits()> y);
    /// Text of one point in the read-out.
    using ValueText = std::function<QString(int line, std::size_t point, double value)>;
    void setValueText(ValueText text) { m_valueText = std::move(text); }
    void setExtraReadout(std::function<std::vector<ReadoutRow>(double x, double y)> rows);
    void setCsv(std::function<QString()> csv) { m_csv = std::move(csv); }

    /// Shown instead of the axes until it is cleared with "". The button is left out when its text is empty.
    void setEmptyState(const QString& text, const QString& button = {});
    bool isEmptyState() const;

    // Ranges.
    void setGroup(PlotGroup* group) { m_group = group; }
    PlotGroup* group() const { return m_group; }
    Limits xLimits() const;
    Limits yLimits() const;  // log2 units on a Log2 plot
    void fitTo(const Limits& x, const Limits& y);
    void zoomAround(double factor, const QPointF& pixel, Qt::Orientations axes);

    // Cursor and read-out.
    Selection* selection() const { return m_selection; }
    bool hasStepAxis() const { return m_selection != nullptr; }
    std::vector<ReadoutRow> readout(double x, double y) const;
    bool showsReadout() const;
    std::optional<QPointF> hoverPixel() const { return m_hover; }

    void setStyle(const PlotStyle& style);
    const PlotStyle& style() const { return m_style; }

    /// Comma separated text: x and one column per line, or what setCsv gives.
    QString csv() const;
    /// By extension: png, svg, pdf, csv. Returns "" or what went wrong.
    QString saveTo(const QString& path);

    /// Axis position of a line's value: log2 on a Log2 plot, NaN for what cannot be drawn.
    double axisValue(double raw) const;
    const Log2Series& marksOf(int line) const { return m_lines[static_cast<std::size_t>(line)].log2; }
    /// Points handed to QCustomPlot after thinning.
    int drawnPoints(int line) const { return m_lines[static_cast<std::size_t>(line)].graph->dataCount(); }

signals:
    void clickedAt(double x, double y);
    void emptyButtonClicked();
    void problem(const QString& text);
    void styleChanged();

protected:
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Line {
        LineLook look;
        Series raw;
        Log2Series log2;  // filled on a Log2 plot
        Series lone;      // drawn values between two gaps
        QCPGraph* graph = nullptr;
        QCPGraph* dots = nullptr;  // of lone points
        const Series& drawn(YScale scale) const { return scale == YScale::Log2 ? log2.line : raw; }
    };

    void createActions();
    void addPlotAction(const QString& text, const char* name, std::function<void()> run);
    void zoomByKey(double factor);
    bool runKey(const QKeyEvent& event, bool really);
    std::function<void()> cursorKey(int key, bool plain);
    void copyPicture();
    void copyData();
    void saveAs(const QString& filter, const QString& suffix);
    void prepare(Line& line);
    void thin();
    void pan(double shareX, double shareY);
    void stepCursor(int direction);
    void togglePin(std::int64_t step);
    std::int64_t stepAt(double pixelX) const;
    void redrawOverlay();

    Selection* m_selection;
    PlotGroup* m_group;
    PlotStyle m_style;
    PlotOverlay* m_overlay;
    PlotDecoration* m_decoration;
    std::vector<Line> m_lines;
    std::vector<StepMark> m_marks;
    YScale m_yScale = YScale::Linear;
    bool m_includeZero = false;
    double m_yPad = 0.06;
    bool m_legendVisible = true;
    QString m_caption;
    Qt::Orientations m_wheelAxes = Qt::Horizontal;
    std::function<Limits()> m_extraX;
    std::function<Limits()> m_extraY;
    ValueText m_valueText;
    std::function<std::vector<ReadoutRow>(double, double)> m_extraReadout;
    std::function<QString()> m_csv;

    bool m_thinned = false;
    QCPRange m_thinnedRange;
    int m_thinnedWidth = 0;

    QWidget* m_empty = nullptr;
    QLabel* m_emptyText = nullptr;
    QPushButton* m_emptyButton = nullptr;

    std::optional<QPointF> m_hover;
    std::optional<QPointF> m_press;
    PlotGroup::Ranges m_beforePress;
    std::optional<std::int64_t> m_cursorBeforeClick;
    bool m_pinnedBeforeClick = false;
    QElapsedTimer m_lastWheel;
};

}  // namespace gui
